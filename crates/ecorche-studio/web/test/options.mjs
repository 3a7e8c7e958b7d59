/** What the tests are told on the command line. */

import { parseArgs } from "node:util";

export const { values: options } = parseArgs({
  options: {
    ecorche: { type: "string", default: "../../../target/release/ecorche" },
    out: { type: "string", default: "../../../target/studio-screenshots" },
    short: { type: "boolean", default: false },
    jobs: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    minutes: { type: "string", default: "" },
    pictures: { type: "string", default: "" },
    page: { type: "string", default: "" },
  },
});
