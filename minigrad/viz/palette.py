"""The colours of every picture: one palette for graphs and for matplotlib's figures.

Okabe and Ito's and Tol's colours and tints of them, which people with colour blindness can tell apart (a test
simulates it), on a light card of the picture's own: so it reads the same on a light and on a dark page.
"""

CARD, CARD_LINE, INK, SOFT_INK = "#FAFAF7", "#CFCFC8", "#1A1A1A", "#4A4A4A"
BUILT, BRIDGE, BROKEN = "#F4EBF8", "#7A3E9D", "#B3260A"  # what a backward built; where one stops
FONT = "Helvetica,Arial,sans-serif"

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
