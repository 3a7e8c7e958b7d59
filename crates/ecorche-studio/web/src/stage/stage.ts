/** The viewport: camera, light, ground, and the loop that draws when something changed. */

import {
  ACESFilmicToneMapping,
  Box3,
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh,
  PCFShadowMap,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
  ShaderMaterial,
  ShadowMaterial,
  Vector3,
  WebGLRenderer,
} from "three";
import { PLAIN } from "../model.ts";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

/** One side of a comparison: what to show in it, and which part of the viewport it has (0 to 1). */
export interface Pane {
  from: number;
  to: number;
  /** Whether the picture is squeezed into the pane, or the pane is a window onto the whole. */
  own: boolean;
  prepare: () => void;
}

export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 100);
  readonly renderer: WebGLRenderer;
  readonly orbit: OrbitControls;
  readonly overlay = new Group();
  /** Asked before every drawing. */
  panes: () => Pane[] = () => [];
  private readonly key = new DirectionalLight(0xfff1e0, 2.6);
  private readonly ground = new Group();
  private wanted = false;
  private readonly afterwards: ((drawing: number) => void)[] = [];
  private size = 1;
  /** Pixels of the element; asking it makes the browser lay out the page. */
  private extent = { width: 0, height: 0 };
  /** Where the character was when light and ground came along last, and in the last frame. */
  private root: Vector3 | null = null;
  private hub: Vector3 | null = null;

  constructor(readonly element: HTMLElement) {
    const plain = PLAIN;
    this.renderer = new WebGLRenderer({ antialias: !plain, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(plain ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.localClippingEnabled = true;
    this.renderer.autoClear = false;
    element.append(this.renderer.domElement);

    this.scene.background = null;
    this.scene.add(new HemisphereLight(0xc9d6ea, 0x4a423c, 1.15));
    this.key.castShadow = true;
    this.key.shadow.mapSize.setScalar(plain ? 1024 : 2048);
    this.key.shadow.radius = plain ? 2 : 5;
    this.key.shadow.bias = -0.001;
    const fill = new DirectionalLight(0xbcd0ff, 0.8);
    fill.position.set(-3, 1.4, 2);
    // What the ground gives back.
    const bounce = new DirectionalLight(0xffd9bd, 0.35);
    bounce.position.set(0.6, -2, 1.5);
    const rim = new DirectionalLight(0xffffff, 1.3);
    rim.position.set(-1.5, 2.5, -3);
    this.scene.add(this.key, this.key.target, fill, bounce, rim, this.ground, this.overlay);

    this.orbit = new OrbitControls(this.camera, this.renderer.domElement);
    this.orbit.enableDamping = false;
    this.orbit.addEventListener("change", () => {
      this.invalidate();
    });
    this.frame(new Box3(new Vector3(-0.5, 0, -0.5), new Vector3(0.5, 1.8, 0.5)), 1);
    new ResizeObserver(() => {
      this.resize();
    }).observe(element);
    this.resize();
  }

  /** Sets ground, light and camera for something of that extent. */
  frame(box: Box3, size: number): void {
    this.size = Math.max(size, 1e-3);
    this.placeGround(box);
    this.lookAt(box);
  }

  /** Moves the camera so that the box fills the view; the direction stays. */
  lookAt(box: Box3): void {
    const middle = box.getCenter(new Vector3());
    const radius = 0.5 * box.getSize(new Vector3()).length();
    const direction = this.camera.position.clone().sub(this.orbit.target);
    if (direction.lengthSq() < 1e-9 || this.orbit.target.lengthSq() === 0) direction.set(0.55, 0.18, 1);
    direction.normalize();
    const half = (0.5 * this.camera.fov * Math.PI) / 180;
    const narrow = Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
    this.orbit.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(direction, radius / Math.sin(narrow));
    this.camera.near = 0.01 * this.size;
    this.camera.far = 60 * this.size;
    this.orbit.minDistance = 0.03 * this.size;
    this.orbit.maxDistance = 12 * this.size;
    this.camera.updateProjectionMatrix();
    this.orbit.update();
    this.invalidate();
  }

  private placeGround(box: Box3): void {
    this.root = null;
    this.ground.clear();
    this.ground.position.setScalar(0);
    const middle = box.getCenter(new Vector3());
    const reach = 8 * this.size;
    const floor = new Mesh(
      new PlaneGeometry(reach, reach),
      new ShaderMaterial({
        transparent: true,
        depthWrite: false,
        uniforms: { tint: { value: new Color(0x8a929c) }, cell: { value: gridCell(this.size) }, reach: { value: reach } },
        vertexShader: `varying vec2 place;
          void main() { place = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
        fragmentShader: `varying vec2 place; uniform vec3 tint; uniform float cell; uniform float reach;
          float lines(float size) {
            vec2 at = place / size; vec2 width = fwidth(at);
            vec2 near = abs(fract(at - 0.5) - 0.5) / max(width, 1e-6);
            return (1.0 - min(min(near.x, near.y), 1.0)) * (1.0 - smoothstep(0.2, 0.6, max(width.x, width.y)));
          }
          void main() {
            float fade = 1.0 - smoothstep(0.06, 0.42, length(place) / reach);
            float line = max(0.22 * lines(cell), 0.5 * lines(5.0 * cell));
            gl_FragColor = vec4(tint, fade * (0.05 + 0.55 * line));
          }`,
      }),
    );
    const shadow = new Mesh(new PlaneGeometry(reach, reach), new ShadowMaterial({ opacity: 0.42 }));
    shadow.receiveShadow = true;
    for (const plane of [floor, shadow]) {
      plane.rotation.x = -Math.PI / 2;
      plane.position.set(middle.x, box.min.y - 0.001 * this.size, middle.z);
      this.ground.add(plane);
    }
    shadow.position.y += 0.0005 * this.size;
    this.key.position.set(1.6, 3.2, 2.4).multiplyScalar(this.size).add(middle);
    this.key.target.position.copy(middle);
    const camera = this.key.shadow.camera;
    const half = 1.25 * this.size;
    Object.assign(camera, { left: -half, right: half, top: half, bottom: -half, near: 0.1 * this.size, far: 9 * this.size });
    camera.updateProjectionMatrix();
    // Three texels: less draws the map's pattern on the skin, much more lifts shadows off the feet.
    this.key.shadow.normalBias = (3 * 2 * half) / this.key.shadow.mapSize.x;
  }

  /** Ground, light and shadow stay with a character that leaves the place where it was framed; the camera too if told so. */
  follow(hub: Vector3, camera: boolean): void {
    const stride = hub.clone().sub(this.hub ?? hub).setY(0);
    this.hub = hub.clone();
    if (camera) {
      this.camera.position.add(stride);
      this.orbit.target.add(stride);
    }
    this.root ??= hub.clone();
    const away = hub.clone().sub(this.root).setY(0);
    if (away.length() < 0.4 * this.size) return;
    // By whole cells, so that its lines stay where they are.
    const cell = 5 * gridCell(this.size);
    away.divideScalar(cell).round().multiplyScalar(cell);
    this.root.add(away);
    this.ground.position.add(away);
    this.key.position.add(away);
    this.key.target.position.add(away);
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    this.extent = { width, height };
    this.renderer.setSize(Math.max(width, 1), Math.max(height, 1));
    this.invalidate();
  }

  /** Draws before the next refresh of the screen; `then` is told how many milliseconds that took. */
  invalidate(then?: (drawing: number) => void): void {
    if (then) this.afterwards.push(then);
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      const started = performance.now();
      this.draw();
      const drawing = performance.now() - started;
      for (const after of this.afterwards.splice(0)) after(drawing);
    });
  }

  /** Draws at once, for a picture that is read before the browser clears it. */
  drawNow(): void {
    this.draw();
  }

  /** Turns the camera around what it looks at, radians about the vertical. */
  turn(angle: number): void {
    const { camera, orbit } = this;
    camera.position.sub(orbit.target).applyAxisAngle(new Vector3(0, 1, 0), angle).add(orbit.target);
    orbit.update();
    this.invalidate();
  }

  private draw(): void {
    const { width, height } = this.extent;
    if (width === 0 || height === 0) return;
    this.renderer.setScissorTest(false);
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    for (const pane of this.panes()) {
      const [left, right] = [Math.round(pane.from * width), Math.round(pane.to * width)];
      this.renderer.setScissor(left, 0, right - left, height);
      if (pane.own) this.renderer.setViewport(left, 0, right - left, height);
      else this.renderer.setViewport(0, 0, width, height);
      this.camera.aspect = (pane.own ? right - left : width) / height;
      this.camera.updateProjectionMatrix();
      pane.prepare();
      this.renderer.render(this.scene, this.camera);
    }
  }
}

/** A round length: the grid's lines are this far apart. */
function gridCell(size: number): number {
  const rough = size / 9;
  const power = 10 ** Math.floor(Math.log10(rough));
  return (rough / power >= 5 ? 5 : rough / power >= 2 ? 2 : 1) * power;
}
