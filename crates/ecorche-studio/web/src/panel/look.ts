/** Skin, skeleton, flesh and fields: what is seen of them. */

import type { Display, Model, Paint } from "../model.ts";
import type { Viewport } from "../stage/viewport.ts";
import { lookFrom, VIEWS } from "../tool/views.ts";
import { button, check, h, row, section, segments, select } from "./dom.ts";
import { slider } from "./number.ts";

type Axis = "x" | "y" | "z";

const AXES: [Axis, string, string][] = [
  ["x", "X", "Across, left to right"],
  ["y", "Y", "Level, from above"],
  ["z", "Z", "Upright, front to back"],
];

/** Shows the iso-surface, seen through the skin it lies in, or takes it away. */
export function surfaceChange({ display }: Model, on: boolean): Partial<Display> {
  return on ? { surface: { whole: true, level: 0.5 }, opacity: Math.min(display.opacity, 0.35) } : { surface: null };
}

export function lookSection(model: Model, viewport: Viewport): HTMLElement {
  const { display, character } = model;
  if (!character) return h("div");
  const half = 0.75 * character.size;
  const show = (change: Partial<Display>): void => { model.show(change); };
  const number = { newDrag: () => model.newDrag() };
  const bone = model.selectedJointName();
  const scope = (whole: boolean, choose: (whole: boolean) => void): HTMLElement =>
    segments<"all" | "bone">(
      [["all", "Whole", "The composed field of the whole body"], ["bone", bone ?? "Selected bone", "The field of the selected joint's bone"]],
      whole || bone === null ? "all" : "bone",
      (value) => {
        if (value === "bone" && bone === null) model.emit("notice", { level: "hint", text: "Choose a joint first." });
        else choose(value === "all");
      },
    );
  const quantities: [string, string][] = [
    ["", "none"],
    ...character.quantities.flatMap(([name]): [string, string][] => {
      if (name !== "weight:JOINT") return [[name, name.replaceAll("-", " ")]];
      return bone === null ? [] : [[`weight:${bone}`, `weight of ${bone}`]];
    }),
  ];
  const quantity = select(quantities, display.quantity ?? "", "Colour the skin by a number of each vertex", (value) => {
    show({ quantity: value === "" ? null : value });
  });
  quantity.id = "quantity";
  const { cut, surface, slice, smooth } = display;
  const middle = viewport.skins?.[0].middle();
  return section(
    "Look",
    slider({ label: "Skin", title: "How solid the skin is (T)", value: Math.round(100 * display.opacity), min: 0, max: 100, step: 1, unit: "%", reset: () => { show({ opacity: 1 }); }, change: (v) => { show({ opacity: v / 100 }); }, ...number }),
    h(
      "div",
      { class: "checks" },
      check("Smooth", smooth !== null, "Corrective smoothing over the method, as Blender's modifier does it; baked too", (on) => {
        show({ smooth: on ? { factor: 0.5, iterations: 5 } : null });
      }),
    ),
    smooth && slider({ label: "Smoothing", title: "How far a vertex moves towards its neighbours in one iteration", value: smooth.factor, min: 0, max: 1, step: 0.01, unit: "", change: (factor) => { show({ smooth: { ...smooth, factor } }); }, ...number }),
    smooth && slider({ label: "Iterations", title: "How often; more reach farther", value: smooth.iterations, min: 0, max: 50, step: 1, unit: "", change: (iterations) => { show({ smooth: { ...smooth, iterations } }); }, ...number }),
    row("Colours", "Colour the skin by a number of each vertex", quantity),
    h(
      "div",
      { class: "checks" },
      check("Joints", display.skeleton, "Joints and bones, to be clicked (J)", (skeleton) => { show({ skeleton }); }),
      check("Muscles", display.flesh, "Muscles and fat (M)", (flesh) => { show({ flesh, ...(flesh && display.opacity > 0.6 ? { opacity: 0.35 } : {}) }); }),
      character.groups.some(({ colour, picture }) => colour !== null || picture !== null) &&
        check("Textures", display.pictures, "The file's own pictures and colours instead of clay (G)", (pictures) => { show({ pictures }); }),
      check("Wireframe", display.wireframe, "Edges of the triangles (W)", (wireframe) => { show({ wireframe }); }),
      check("Follow", display.follow, "The camera follows the character (V)", (follow) => { show({ follow }); }),
      check("Samples", display.samples, "Points and normals the fields go through; dark ones close the parts (H)", (samples) => { show({ samples }); }),
      check("Cut", cut !== null, "Cut the skin open with a plane (X)", (on) => { show({ cut: on ? { axis: "z", at: middle?.z ?? 0 } : null }); }),
      check("Slice", slice !== null, "A plane through the field with isolines, to be dragged (P)", (on) => {
        show({ slice: on ? { axis: "z", at: middle?.z ?? 0, whole: true } : null });
        viewport.hold(on ? "slice" : "pose");
      }),
      check("Iso-surface", surface !== null, "The surface on which the field has one value (I)", (on) => { show(surfaceChange(model, on)); }),
    ),
    display.flesh &&
      row("Painted by", "What the colour of a muscle means", select(
        [["activation", "activation"], ["tension", "tension"], ["length", "length"]],
        display.paint,
        "What the colour of a muscle means",
        (paint) => { show({ paint: paint as Paint }); },
      )),
    cut && row("Cut across", "The plane's direction", segments(AXES, cut.axis, (axis) => { show({ cut: { ...cut, axis } }); })),
    cut && slider({ label: "Cut at", title: "Place of the plane", value: cut.at, min: -half, max: half, step: 0.001, unit: "m", change: (at) => { show({ cut: { ...cut, at } }); }, ...number }),
    slice && row("Slice across", "The plane's direction", segments(AXES, slice.axis, (axis) => { show({ slice: { ...slice, axis } }); })),
    slice && slider({ label: "Slice at", title: "Place of the plane; or drag the arrow in the view", value: slice.at, min: -half, max: half, step: 0.001, unit: "m", change: (at) => { show({ slice: { ...slice, at } }); }, ...number }),
    slice && row("Slice of", "Which field", scope(slice.whole, (whole) => { show({ slice: { ...slice, whole } }); })),
    surface && slider({ label: "Level", title: "Value of the surface; 0.5 is the skin's", value: surface.level, min: 0.05, max: 0.95, step: 0.01, unit: "", reset: () => { show({ surface: { ...surface, level: 0.5 } }); }, change: (level) => { show({ surface: { ...surface, level } }); }, ...number }),
    surface && row("Surface of", "Which field", scope(surface.whole, (whole) => { show({ surface: { ...surface, whole } }); })),
    h(
      "div",
      { class: "buttons" },
      ...VIEWS.map(([side, label, title]) => button(label, title, () => { lookFrom(viewport.stage, side); })),
    ),
    h(
      "div",
      { class: "buttons" },
      button("Frame all", "Show the whole character (A)", () => { viewport.frameAll(); }),
      button("Reset pose", "Take back every joint turned by hand (Shift+R)", () => { model.resetPose(null); }),
    ),
  );
}
