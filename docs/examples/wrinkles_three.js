// Wrinkles of `ecorche wrinkles` on a mesh of three.js, as bumps: the skin's normals turn where it folds.
//
// The pictures have 16 bits. A browser decodes PNG to 8, which shows as steps on large flat waves; where that matters, convert them
// to half floats (EXR) first and load them with EXRLoader. They are data, not colours: no colour space.
//
//   const wrinkles = await loadWrinkles('maps/', 'mesh0');
//   wrinkles.attach(mesh);                      // the vertices must be the file's, in its order
//   wrinkles.show(mesh, frame);                 // in every frame
import * as THREE from 'three';

/** The numbers of a NumPy file of 32-bit floats. */
function floats(buffer) {
  const head = new DataView(buffer).getUint16(8, true);
  return new Float32Array(buffer.slice(10 + head));
}

export async function loadWrinkles(folder, mesh) {
  const about = await (await fetch(`${folder}wrinkles.json`)).json();
  const own = about.meshes.find((entry) => entry.folds === `${mesh}.npy`);
  const folds = floats(await (await fetch(folder + own.folds)).arrayBuffer());
  const loader = new THREE.TextureLoader();
  const maps = await Promise.all(own.maps.map((name) => loader.loadAsync(folder + name)));
  maps.forEach((map) => (map.colorSpace = THREE.NoColorSpace));
  const sets = maps.length;

  const height = maps.map((_, k) => `{
    vec3 t = texture2D(wrinkles${k}, uv).rgb;
    float c = 2.0 * t.r - 1.0;
    float s = sharpness;
    float wave = (c - s * (2.0 * c * c - 1.0)) / sqrt(1.0 + 4.0 * s * s);
    h += t.b * longest / 3.14159265 * t.g * vFold[${k}] * wave;
  }`);
  const uniforms = { sharpness: { value: about.sharpness }, longest: { value: about.longest_wavelength } };
  maps.forEach((map, k) => (uniforms[`wrinkles${k}`] = { value: map }));

  return {
    attach(object) {
      const count = object.geometry.attributes.position.count;
      object.geometry.setAttribute('fold', new THREE.BufferAttribute(new Float32Array(3 * count), 3));
      object.material.onBeforeCompile = (shader) => {
        Object.assign(shader.uniforms, uniforms);
        shader.vertexShader = shader.vertexShader
          .replace('#include <common>', '#include <common>\nattribute vec3 fold; varying vec3 vFold; varying vec2 vWrinkleUv;')
          .replace('#include <begin_vertex>', '#include <begin_vertex>\nvFold = fold; vWrinkleUv = uv;');
        const declared = maps.map((_, k) => `uniform sampler2D wrinkles${k};`).join(' ');
        shader.fragmentShader = shader.fragmentShader
          .replace('#include <common>', `#include <common>
            uniform float sharpness; uniform float longest; ${declared}
            varying vec3 vFold; varying vec2 vWrinkleUv;
            float wrinkle(vec2 uv) { float h = 0.0; ${height.join(' ')} return h; }`)
          .replace('#include <normal_fragment_maps>', `#include <normal_fragment_maps>
            vec3 px = dFdx(-vViewPosition), py = dFdy(-vViewPosition);
            float here = wrinkle(vWrinkleUv);
            float hx = wrinkle(vWrinkleUv + dFdx(vWrinkleUv)) - here;
            float hy = wrinkle(vWrinkleUv + dFdy(vWrinkleUv)) - here;
            vec3 rx = cross(py, normal), ry = cross(normal, px);
            float area = dot(px, rx);
            normal = normalize(abs(area) * normal - sign(area) * (hx * rx + hy * ry));`);
      };
      object.material.needsUpdate = true;
    },
    show(object, frame) {
      const fold = object.geometry.attributes.fold;
      const first = frame * own.vertices * sets;
      for (let v = 0; v < own.vertices; v++) {
        for (let k = 0; k < sets; k++) fold.array[3 * v + k] = folds[first + v * sets + k];
      }
      fold.needsUpdate = true;
    },
  };
}
