/** Controls of keys of the anatomy; the table of keys says what they show. */

import type { KeyInfo } from "../anatomy_keys.ts";
import type { Model } from "../model.ts";
import { check, row, select } from "./dom.ts";
import { slider } from "./number.ts";

type Slider = KeyInfo & Required<Pick<KeyInfo, "slider">>;
type Choice = KeyInfo & Required<Pick<KeyInfo, "choices">>;

/** A slider for a number of the file. */
export function keySlider(model: Model, key: Slider, value: number, change: (value: number, drag: number) => void, reset?: () => void): HTMLElement {
  const { scale, ...shown } = key.slider;
  return slider({
    label: key.label, title: key.about, value: value * scale, ...shown,
    newDrag: () => model.newDrag(),
    reset,
    change: (v, drag) => { change(Number((v / scale).toPrecision(6)), drag); },
  });
}

/** The words that a key may be, for a list to choose from. */
export function choicesOf(key: Choice): [string, string][] {
  return key.choices.map((name) => [name, name]);
}

/** A list of the words that a key may be. */
export function keyChoice(key: Choice, value: string, choose: (value: string) => void): HTMLElement {
  return row(key.label, key.about, select(choicesOf(key), value, "", choose));
}

/** A box to tick for a key that is true or false. */
export function keyCheck(key: KeyInfo, label: string, value: boolean, choose: (value: boolean) => void): HTMLElement {
  return check(label, value, key.about, choose);
}
