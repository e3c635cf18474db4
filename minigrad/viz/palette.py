"""The colours of every picture: one palette for graphs and for matplotlib's figures.

Okabe and Ito's and Tol's colours and tints of them, which people with colour blindness can tell apart (a test
simulates it), on a card of the picture's own. A drawing brings a dark look of itself, too, for dark pages.
"""

import re

CARD, CARD_LINE, INK, SOFT_INK = "#FAFAF7", "#CFCFC8", "#1A1A1A", "#4A4A4A"
BUILT, BRIDGE, BROKEN = "#F4EBF8", "#7A3E9D", "#B3260A"  # what a backward built; where one stops
FONT = "Helvetica,Arial,sans-serif"

# On a dark page: what takes the place of each colour that a drawing may have.
DARK = {
    CARD: "#1B1C1E",
    CARD_LINE: "#3C3D40",
    INK: "#EDEDEA",
    SOFT_INK: "#BDBDB8",
    "#585858": "#B4B4AE",
    "#6B6B6B": "#9C9C98",
    "#8A8A8A": "#8F8F8B",
    "#FFFFFF": "#2A2B2E",
    "#EFEFEC": "#2F2F2D",
    "#E6E6E3": "#3A3A38",
    "#CBE6F7": "#123A54",  # leaf
    "#E9F4FB": "#16303F",
    "#0072B2": "#56B4E9",
    "#C5EBDD": "#0E4535",  # output
    "#00734F": "#3CC796",
    "#FDF3C4": "#4A4112",  # operation
    "#8A7400": "#D9BF3C",
    "#FBE0B0": "#553A0C",  # saved
    "#A66A00": "#E5A23C",
    BUILT: "#33223D",
    BRIDGE: "#C79BE3",
    "#FBD9CC": "#5A2414",  # fails
    BROKEN: "#FF8A6B",
    "#A83C00": "#F0915A",  # freed
    "#C04A00": "#F59A5C",
    "#9C2F6F": "#E58BC0",
    "#F6DCEB": "#4A2038",
    "#FFE08A": "#6B5200",  # the frames of a film: now, failed, not reached yet
    "#FBD5C0": "#5A2C14",
    "#F3F3EF": "#242426",
    "#A9A9A2": "#6E6E69",
    "#66665F": "#A9A9A2",
    "#B5B5AE": "#5A5A57",
    "#D55E00": "#F0743A",  # curves
    "#882255": "#F3D250",
    "#8C8C8C": "#8F8F8B",
    "#332288": "#8A7BFF",
    "#000000": "#EDEDEA",
}

# For curves: the order in which matplotlib takes them.
PALETTE = {
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "ink": INK,
    "wine": "#882255",
    "grey": "#8C8C8C",
    "indigo": "#332288",
}
_DASHES = ["-", "--", "-.", ":", "-", "--"]  # never by colour alone

# For matplotlib: plt.rcParams.update(STYLE), or `with style():` for one figure.
STYLE = {
    "figure.figsize": (6.0, 3.4),
    "figure.dpi": 100,
    "figure.facecolor": CARD,
    "savefig.facecolor": CARD,
    "figure.constrained_layout.use": True,
    "axes.facecolor": CARD,
    "axes.edgecolor": SOFT_INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": f"cycler('color', {list(PALETTE.values())}) + cycler('linestyle', {_DASHES})",
    "grid.color": CARD_LINE,
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "lines.markersize": 6,
    "text.color": INK,
    "xtick.color": SOFT_INK,
    "ytick.color": SOFT_INK,
    "font.size": 11,
    "legend.frameon": False,
    "svg.hashsalt": "minigrad",  # the same figure, the same file
}


def style():
    """A context in which matplotlib draws in the style of the graphs, at most 700 pixels wide.

    >>> import matplotlib
    >>> with style():
    ...     matplotlib.rcParams["axes.facecolor"]
    '#FAFAF7'
    """
    import matplotlib

    return matplotlib.rc_context(STYLE)


def themed(svg: str) -> str:
    """The drawing with a dark look for dark pages: an <img> has the colour scheme of the page around it.

    JupyterLab, VS Code and browsers tell a page's images which it is, and no script or trust is needed for it.

    >>> "{fill:#EDEDEA}" in themed('<svg width="9"><text fill="#1a1a1a">w</text></svg>')
    True
    """
    dark = {light.lower(): dark for light, dark in DARK.items()} | {"white": DARK["#FFFFFF"], "black": DARK[INK]}
    rules = []
    for property, sign, colour in sorted(set(re.findall(r'\b(fill|stroke)(="|: )([#\w]+)', svg))):
        new = dark.get(colour.lower())
        if new and sign == '="':
            rules.append(f'[{property}="{colour}"]{{{property}:{new}}}')
        elif new:  # Matplotlib's way
            rules.append(f'[style*="{property}: {colour}"]{{{property}:{new}!important}}')
    rules.append(f"text:not([fill]){{fill:{DARK[INK]}}}")
    style = f"<style>@media (prefers-color-scheme:dark){{{''.join(rules)}}}</style>"
    return re.sub(r"<svg[^>]*>", lambda opening: opening.group() + style, svg, count=1)
