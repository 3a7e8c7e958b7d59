/** Parts that are added to the page, each in files of its own; a new one is a line here. */

import type { Page } from "./page.ts";
import { addCrowd } from "./panel/crowd.ts";
import { addParametric } from "./panel/parametric.ts";
import { addWrinkles } from "./panel/wrinkles.ts";

export const EXTENSIONS: readonly ((page: Page) => void)[] = [addParametric, addCrowd, addWrinkles];
