/** What a hand does with the mouse. */

/** Drags a slider of the panel by its thumb. */
export async function dragSlider(tab, label, share) {
  const selector = `.slider[data-field="${label}"] input[type=range]`;
  await tab.reach(selector);
  const range = tab.page.locator(selector).first();
  await range.scrollIntoViewIfNeeded();
  const box = await range.boundingBox();
  const { value, min, max } = await range.evaluate((e) => ({ value: e.valueAsNumber, min: Number(e.min), max: Number(e.max) }));
  const y = box.y + box.height / 2;
  const from = box.x + 7 + ((value - min) / (max - min)) * (box.width - 14);
  const to = box.x + 7 + share * (box.width - 14);
  await tab.page.mouse.move(from, y);
  await tab.page.mouse.down();
  for (let k = 1; k <= 6; k++) {
    await tab.page.mouse.move(from + ((to - from) * k) / 6, y);
    await tab.page.waitForTimeout(40);
  }
  await tab.page.mouse.up();
}

/** A pixel near a place at which the handles can be grabbed. */
export async function findHandle(tab, x, y) {
  for (let radius = 16; radius < 110; radius += 3) {
    for (const angle of [0.3, 1.2, 2.4, 3.9, 5.3]) {
      const [px, py] = [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
      await tab.page.mouse.move(px, py);
      if (await tab.run(() => globalThis.ecorche.viewport.gizmo.hovered)) return [px, py, angle];
    }
  }
  throw new Error("there is no handle to grab");
}

/** Drags a handle around the middle of the rings, or along its arrow. */
export async function dragFrom(tab, [px, py, angle], middle) {
  await tab.page.mouse.down();
  for (let k = 1; k <= 8; k++) {
    const along = middle === null ? [-Math.sin(angle), Math.cos(angle)] : [Math.cos(angle), Math.sin(angle)];
    await tab.page.mouse.move(px + 6 * k * along[0], py + 6 * k * along[1]);
    await tab.page.waitForTimeout(30);
  }
  await tab.page.mouse.up();
}

/** Turns the selected joint by the ring of one of its axes until `enough` says so; the hand turns back once if it goes astray. */
export async function turnRing(tab, axis, enough) {
  const { x, y } = await gizmoOnScreen(tab);
  const along = await tab.run((letter) => {
    const { gizmo, stage } = globalThis.ecorche.viewport;
    const { position, quaternion } = gizmo.proxy;
    const eye = stage.camera.position.clone().sub(position).normalize();
    const across = position.clone().set(letter === "X", letter === "Y", letter === "Z").applyQuaternion(quaternion).cross(eye).normalize();
    const [from, to] = [position.clone(), position.clone().addScaledVector(across, 0.05)].map((place) => place.project(stage.camera));
    const [right, down] = [(to.x - from.x) * stage.element.clientWidth, (from.y - to.y) * stage.element.clientHeight];
    const length = Math.hypot(right, down);
    return [right / length, down / length];
  }, axis);
  const grip = await findRing(tab, axis, x, y);
  await tab.page.mouse.move(...grip);
  await tab.page.mouse.down();
  let [reach, sign, before] = [0, 1, await enough()];
  for (let k = 0; k < 80 && before !== true; k++) {
    reach += 7 * sign;
    await tab.page.mouse.move(grip[0] + reach * along[0], grip[1] + reach * along[1]);
    await tab.page.waitForTimeout(70);
    const now = await enough();
    if (k === 4 && now !== true && now > before) [reach, sign] = [0, -1];
    if (now === true) before = true;
  }
  await tab.page.mouse.up();
}

async function findRing(tab, axis, x, y) {
  for (let radius = 30; radius < 80; radius += 2) {
    for (let angle = 0; angle < 2 * Math.PI; angle += 0.13) {
      const place = [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
      await tab.page.mouse.move(...place);
      if ((await tab.run(() => globalThis.ecorche.viewport.gizmo.controls.axis)) === axis) return place;
    }
  }
  throw new Error(`there is no ring of ${axis} to grab`);
}

/** Where the handles are on the screen. */
export function gizmoOnScreen(tab) {
  return tab.run(() => {
    const { gizmo, stage } = globalThis.ecorche.viewport;
    const seen = gizmo.proxy.position.clone().project(stage.camera);
    const bounds = stage.element.getBoundingClientRect();
    return { x: bounds.left + 0.5 * (seen.x + 1) * bounds.width, y: bounds.top + 0.5 * (1 - seen.y) * bounds.height };
  });
}

/** Where a joint is on the screen. */
export function jointOnScreen(tab, name) {
  return tab.run((wanted) => {
    const { model, viewport } = globalThis.ecorche;
    const joint = model.character.joints.findIndex((j) => j.name === wanted);
    const seen = viewport.skeleton.place(joint).project(viewport.stage.camera);
    const bounds = viewport.stage.element.getBoundingClientRect();
    return { joint, x: bounds.left + 0.5 * (seen.x + 1) * bounds.width, y: bounds.top + 0.5 * (1 - seen.y) * bounds.height };
  }, name);
}
