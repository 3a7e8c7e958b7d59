/** What a user comes for, from the first click to the last, with pointer and keys alone; how long each answer takes is printed. */

import { compare } from "./compare.mjs";
import { crossings } from "./crossings.mjs";
import { fields } from "./fields.mjs";
import { muscles } from "./muscles.mjs";
import { posing } from "./posing.mjs";
import { whole } from "./whole.mjs";

export const jobs = { ...compare, ...posing, ...crossings, ...muscles, ...fields, ...whole };
