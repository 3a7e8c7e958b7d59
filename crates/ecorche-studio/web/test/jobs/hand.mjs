/** A user at the page: pointer and keys, counted, with the time until the page answers. */

import assert from "node:assert/strict";

export class Hand {
  /** Clicks, drags and keys so far; a word that is typed is one. */
  actions = 0;

  constructor(tab) {
    this.tab = tab;
    this.page = tab.page;
  }

  async press(key) {
    this.actions++;
    await this.page.keyboard.press(key);
  }

  async type(text) {
    this.actions++;
    await this.page.keyboard.type(text);
  }

  /** Clicks what a selector finds first, or a pixel. */
  async click(target) {
    this.actions++;
    if (Array.isArray(target)) await this.page.mouse.click(...target);
    else await this.page.locator(target).first().click();
  }

  /** Chooses from a list. */
  async choose(selector, value) {
    this.actions++;
    await this.tab.choose(selector, value);
  }

  /** Drags from one pixel to another in a few moves. */
  async drag([fromX, fromY], [toX, toY], steps = 8) {
    this.actions++;
    await this.page.mouse.move(fromX, fromY);
    await this.page.mouse.down();
    for (let k = 1; k <= steps; k++) {
      await this.page.mouse.move(fromX + ((toX - fromX) * k) / steps, fromY + ((toY - fromY) * k) / steps);
      await this.page.waitForTimeout(20);
    }
    await this.page.mouse.up();
  }

  /** Types a number into a field of the panel. */
  async put(label, text) {
    const selector = `.number[aria-label="${label}"]`;
    await this.tab.reach(selector);
    await this.click(selector);
    await this.type(text);
    await this.press("Enter");
  }

  /** Chooses by name: the search field, the name, Enter. */
  async find(name) {
    await this.press("/");
    await this.type(name);
    await this.press("Enter");
    await this.page.fill("#search", "");
    await this.page.locator("#search").blur();
  }

  /** Goes to a frame by a click on the timeline. */
  async scrub(frame) {
    const { last } = await this.tab.run(() => globalThis.ecorche.model.frame);
    const box = await this.page.locator("#scrub").boundingBox();
    await this.click([box.x + 7 + (frame / last) * (box.width - 14), box.y + box.height / 2]);
    await this.until((at) => globalThis.ecorche.model.frame.at === at, frame);
  }

  until(condition, argument, timeout = 120_000) {
    return this.page.waitForFunction(condition, argument ?? null, { timeout, polling: 20 });
  }

  /** Waits until that many steps can be undone and the last of a drag's moves has arrived. */
  async undos(count) {
    await this.until((n) => globalThis.ecorche.model.document.undo === n, count);
    for (let before = -1, now = 0; now !== before; ) {
      before = now;
      await this.page.waitForTimeout(200);
      now = await this.tab.run(() => globalThis.ecorche.model.document.revision);
    }
    assert.equal(await this.tab.run(() => globalThis.ecorche.model.document.undo), count);
  }

  /** Does something and prints how long it takes until the page shows it. */
  async timed(what, act, shown) {
    const started = performance.now();
    await act();
    await shown();
    console.log(`   ${what}: ${(performance.now() - started).toFixed(0)} ms`);
  }
}
