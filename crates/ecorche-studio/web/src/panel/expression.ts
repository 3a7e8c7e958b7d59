/** Numbers as people type them: sums, products, units. */

/** How many of the first unit of its kind one of each is. */
const UNITS: Record<string, [kind: string, size: number]> = {
  m: ["length", 1],
  cm: ["length", 0.01],
  mm: ["length", 0.001],
  in: ["length", 0.0254],
  "°": ["angle", 1],
  deg: ["angle", 1],
  rad: ["angle", 180 / Math.PI],
  s: ["time", 1],
  ms: ["time", 0.001],
  "%": ["share", 1],
};

const TOKEN = /\s*(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|[-+*/()]|[a-z°%×]+)/iy;

/** The value of what was typed, in `unit`; `null` if it makes no sense. A number without a unit has that one. */
export function evaluate(text: string, unit: string): number | null {
  const tokens: string[] = [];
  const words = text.trim().replaceAll(",", ".");
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < words.length) {
    const token = TOKEN.exec(words)?.[1];
    if (token === undefined) return null;
    tokens.push(token);
  }
  const own = UNITS[unit];
  let at = 0;
  const next = (...wanted: string[]): string | null => {
    const token = tokens[at];
    if (token === undefined || !wanted.includes(token)) return null;
    at++;
    return token;
  };
  const factor = (): number => {
    if (next("-") !== null) return -factor();
    if (next("+") !== null) return factor();
    if (next("(") !== null) {
      const value = sum();
      return next(")") === null ? NaN : value;
    }
    let value = Number(tokens[at++] ?? NaN);
    const named = tokens[at]?.toLowerCase();
    if (named !== undefined && /^[a-z°%×]/.test(named)) {
      at++;
      const of = UNITS[named];
      if (named === unit) return value;
      value = of && own?.[0] === of[0] ? (value * of[1]) / own[1] : NaN;
    }
    return value;
  };
  const product = (): number => {
    let value = factor();
    for (let sign = next("*", "/"); sign !== null; sign = next("*", "/")) value = sign === "*" ? value * factor() : value / factor();
    return value;
  };
  const sum = (): number => {
    let value = product();
    for (let sign = next("+", "-"); sign !== null; sign = next("+", "-")) value = sign === "+" ? value + product() : value - product();
    return value;
  };
  const value = sum();
  return at === tokens.length && Number.isFinite(value) ? value : null;
}
