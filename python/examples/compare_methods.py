"""Measures two methods on the same clip and tells where one is better.

    python compare_methods.py [hero.fbx [clip]]
"""

import sys

import ecorche

FIGURES = ("pairs", "volume_loss", "stretch_max")


def main(source: str = "sample:cylinder?rings=24&segments=16", clip: str | None = None) -> dict[str, dict[str, float]]:
    character = ecorche.read(source)
    worst = {}
    for method in ("lbs", "implicit"):
        figures = character.bind(method).measure(clip, fps=6)
        worst[method] = {s["figure"]: s["worst"] for s in figures["summary"]}
    print(f"{'worst of the clip':20}{'lbs':>12}{'implicit':>12}")
    for figure in FIGURES:
        print(f"{figure:20}{worst['lbs'][figure]:12.4f}{worst['implicit'][figure]:12.4f}")
    return worst


if __name__ == "__main__":
    main(*sys.argv[1:])
