"""Compute the golden values of the statistics from their formulas, with Python's library alone.

    python3 vectors/statistics/compute.py > vectors/statistics/vectors.json

Nothing of eyelevel, numpy, scipy or statsmodels is used: distribution functions are integrals by
Simpson's rule, exact tests enumerate. `plants` is R's data set PlantGrowth (Dobson 1983), of which
R's documented outputs are known: `oneway.test(weight ~ group)` F = 5.181, df 2 and 17.128,
p = 0.01739; `kruskal.test` H = 7.9882, p = 0.01842. `sleep` is Student's (1908): `t.test(paired =
TRUE)` t = -4.0621, p = 0.002833. The script checks itself against these.
"""

import json
import math
from itertools import combinations, product

PLANTS = {
    "ctrl": [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
    "trt1": [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
    "trt2": [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
}
SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)
SMALL = ([12.1, 15.3, 9.8, 14.2, 11.0, 13.7], [16.4, 10.5, 17.9, 18.3, 14.9])
SPREAD = {
    "a": [1.0, 2.0, 4.0, 8.0, 3.0],
    "b": [5.0, 5.5, 6.5, 6.0],
    "c": [9.0, 14.0, 3.0, 7.0, 20.0, 8.0],
}
TIMES = ([3.0, 5.0, 6.0, 6.0, 9.0, None, None], [2.0, 3.0, 3.0, 4.0, 5.0, 7.0, None])
LIMIT = 10.0
COMPLETE = (
    [[812.0, 655.0, 790.0, 841.0, 702.0, 768.0, 733.0], [1520.0, 1444.0, 1610.0, 1388.0, 1497.0,
      1555.0, 1402.0]],
    [[901.0, 833.0, 851.0, 797.0, 866.0, 921.0, 845.0], [1490.0, 1575.0, 1702.0, 1466.0, 1580.0,
      1602.0, 1533.0]],
)  # fmt: skip
FLIPS = ([3, -1, 2, 2, 1], [1, 1, 1, 1, 1, 1], [5, 4, -2])


def mean(x):
    """The arithmetic mean."""
    return math.fsum(x) / len(x)


def variance(x):
    """The unbiased variance."""
    return math.fsum((v - mean(x)) ** 2 for v in x) / (len(x) - 1)


def simpson(f, low, high, steps=4000):
    """The integral of f by Simpson's rule."""
    width = (high - low) / steps
    inner = math.fsum((4 if i % 2 else 2) * f(low + i * width) for i in range(1, steps))
    return (f(low) + f(high) + inner) * width / 3


def t_tail(t, df):
    """P(T > t), t >= 0: the density over atan, where it is smooth and the range is finite."""
    log_c = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    root = math.sqrt(df)

    def g(angle):  # x = root tan(angle): (1 + tan^2)^-(df+1)/2 dx
        return math.exp(log_c) * root * max(math.cos(angle), 0.0) ** (df - 1)

    return simpson(g, math.atan(t / root), math.pi / 2)


def f_tail(f, df1, df2):
    """P(F > f) through the beta integral of w = df2 / (df2 + df1 F), substituted for smoothness."""
    log_b = math.lgamma(df1 / 2) + math.lgamma(df2 / 2) - math.lgamma((df1 + df2) / 2)
    end = df2 / (df2 + df1 * f)

    def g(w):
        return w ** (df2 / 2 - 1) * (1 - w) ** (df1 / 2 - 1)

    return simpson(g, 0.0, end) / math.exp(log_b)


def chi_squared_tail_even(x, df):
    """P(X > x) for an even number of degrees of freedom, in closed form."""
    half = x / 2
    return math.exp(-half) * math.fsum(half**k / math.factorial(k) for k in range(df // 2))


def normal(z):
    """The normal distribution function."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def range_tail(q, k, df):
    """P(Q > q) of the studentised range, from its definition as a double integral."""

    def given_sd(s):
        def g(z):
            density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
            return k * density * (normal(z) - normal(z - q * s)) ** (k - 1)

        return simpson(g, -8.0, 8.0 + q * s, 300)

    log_c = df / 2 * math.log(df) - math.lgamma(df / 2) - (df / 2 - 1) * math.log(2)

    def h(s):
        return math.exp(log_c + (df - 1) * math.log(s) - df * s * s / 2) * given_sd(s)

    return 1 - simpson(h, 1e-9, 6.0, 600)


def welch(groups):
    """Welch's F, its degrees of freedom and p (Biometrika 38, 1951)."""
    weights = [len(g) / variance(g) for g in groups]
    total, k = math.fsum(weights), len(groups)
    grand = math.fsum(w * mean(g) for w, g in zip(weights, groups, strict=True)) / total
    between = math.fsum(
        w * (mean(g) - grand) ** 2 for w, g in zip(weights, groups, strict=True)
    ) / (k - 1)
    a = math.fsum((1 - w / total) ** 2 / (len(g) - 1) for w, g in zip(weights, groups, strict=True))
    f = between / (1 + 2 * (k - 2) / (k * k - 1) * a)
    df2 = (k * k - 1) / (3 * a)
    return {"statistic": f, "df": [k - 1, df2], "p": f_tail(f, k - 1, df2)}


def ranks(values):
    """Mid-ranks."""
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def kruskal(groups):
    """H with ties corrected, and p; an odd number of groups."""
    joined = [v for g in groups for v in g]
    n, r, at, h = len(joined), ranks(joined), 0, 0.0
    for g in groups:
        h += sum(r[at : at + len(g)]) ** 2 / len(g)
        at += len(g)
    h = 12 / (n * (n + 1)) * h - 3 * (n + 1)
    ties = sum(c**3 - c for c in (joined.count(v) for v in set(joined)))
    h /= 1 - ties / (n**3 - n)
    return {"statistic": h, "p": chi_squared_tail_even(h, len(groups) - 1)}


def games_howell(groups):
    """Each pair's difference of means and its p."""
    found = []
    for a, b in combinations(groups, 2):
        x, y = groups[a], groups[b]
        vx, vy = variance(x) / len(x), variance(y) / len(y)
        difference = mean(x) - mean(y)
        df = (vx + vy) ** 2 / (vx**2 / (len(x) - 1) + vy**2 / (len(y) - 1))
        q = abs(difference) / math.sqrt((vx + vy) / 2)
        found.append({"pair": [a, b], "value": difference, "p": range_tail(q, len(groups), df)})
    return found


def mann_whitney(x, y):
    """U and its exact two-sided p, by enumeration of every split of the joined sample."""
    joined, n = x + y, len(x)

    def u(chosen, others):
        return sum((a > b) + 0.5 * (a == b) for a in chosen for b in others)

    seen = u(x, y)
    middle = n * len(y) / 2
    count = total = 0
    for chosen in combinations(range(len(joined)), n):
        inside = set(chosen)
        value = u(
            [joined[i] for i in chosen], [joined[i] for i in range(len(joined)) if i not in inside]
        )
        count += abs(value - middle) >= abs(seen - middle)
        total += 1
    delta = sum((a > b) - (a < b) for a in x for b in y) / (n * len(y))
    return {"u": seen, "p": count / total, "delta": delta}


def tost(value, error, df, bound):
    """The larger p of both one-sided t tests."""
    tails = [
        t_tail(t, df) if t >= 0 else 1 - t_tail(-t, df)
        for t in ((value + bound) / error, (bound - value) / error)
    ]
    return max(tails)


def over_repetitions(values, reference):
    """Student's t of the repetitions' means over sites of log ratios, as a gain, and their median.

    The bounds of t by bisection of its tail; the median's by the binomial's definition.
    """
    sites, count = len(values), len(values[0])
    logs = [[math.log(a / b) for a, b in zip(x, r, strict=True)]
            for x, r in zip(values, reference, strict=True)]  # fmt: skip
    means = [mean([site[at] for site in logs]) for at in range(count)]
    error = math.sqrt(variance(means) / count)
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, count - 1) > 0.025 else (low, middle)
    t = mean(means) / error
    bounds = [math.expm1(mean(means) + sign * low * error) for sign in (-1, 1)]
    medians = sorted(  # of one or two sites
        mean([site[at] for site in logs]) for at in range(count) if sites <= 2
    )
    rank, chance = 0, 0.0
    while (chance := chance + math.comb(count, rank) / 2**count) <= 0.025:
        rank += 1
    fewer = min(sum(m < 0 for m in medians), sum(m > 0 for m in medians))
    sign = min(1.0, 2 * sum(math.comb(count, k) for k in range(fewer + 1)) / 2**count)
    return {
        "gain": [math.expm1(mean(means)), *bounds, 2 * t_tail(abs(t), count - 1)],
        "median": [*(math.expm1(medians[k]) for k in (count // 2, rank - 1, count - rank)), sign],
    }


def sign_flips(differences):
    """The share of all choices of signs whose sum is at least as far from 0."""
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    return sum(each >= abs(sum(differences)) for each in sums) / len(sums)


def benjamini_hochberg(p):
    """Adjusted p values by the step-up definition."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, least = [0.0] * len(p), 1.0
    for rank in range(len(p), 0, -1):
        i = order[rank - 1]
        least = min(least, p[i] * len(p) / rank)
        adjusted[i] = least
    return adjusted


def log_rank(x, y, limit):
    """Mantel's statistic, as z, of the first sample's events less those expected."""

    def at_risk(s, t):
        return sum(v is None or v >= t for v in s)

    observed = expected = spread = 0.0
    for t in sorted({v for v in x + y if v is not None}):
        n1, n2 = at_risk(x, t), at_risk(y, t)
        d1, d2 = x.count(t), y.count(t)
        n, d = n1 + n2, d1 + d2
        observed += d1
        expected += d * n1 / n
        if n > 1:
            spread += d * n1 * n2 * (n - d) / (n * n * (n - 1))
    z = (observed - expected) / math.sqrt(spread)
    return {"z": z, "p": math.erfc(abs(z) / math.sqrt(2))}


def mixture_factor(t, n, spread):
    """The Bayes factor of a t statistic by integrating over the effect and the deviation:

    the ratio of the chances of data with this t under N(effect sd, sd) and N(0, sd), the
    deviation with the density 1/sd. Data with mean m = t / sqrt(n), unit variance (n - 1).
    """
    m, squares = t / math.sqrt(n), (n - 1) + t * t

    def likelihood(effect):
        def g(log_sd):
            sd = math.exp(log_sd)
            return sd ** (-n) * math.exp(
                -(squares - 2 * n * m * effect * sd + n * (effect * sd) ** 2) / (2 * sd * sd)
            )

        return simpson(g, -6.0, 8.0, 1400)

    def weighted(effect):
        prior = math.exp(-effect * effect / (2 * spread**2)) / (spread * math.sqrt(2 * math.pi))
        return prior * likelihood(effect)

    return simpson(weighted, -8 * spread, 8 * spread, 400) / likelihood(0.0)


def main():
    """Check against published values, then print the vectors."""
    pairs = [a - b for a, b in zip(*SLEEP, strict=True)]
    t = mean(pairs) / math.sqrt(variance(pairs) / len(pairs))
    plants_welch, plants_kruskal = welch(list(PLANTS.values())), kruskal(list(PLANTS.values()))
    assert abs(t + 4.0621) < 5e-5 and abs(2 * t_tail(-t, 9) - 0.002833) < 5e-7
    assert abs(plants_welch["statistic"] - 5.181) < 5e-4 and abs(plants_welch["p"] - 0.01739) < 5e-6
    assert abs(plants_welch["df"][1] - 17.128) < 5e-4
    assert (
        abs(plants_kruskal["statistic"] - 7.9882) < 5e-5
        and abs(plants_kruskal["p"] - 0.01842) < 5e-6
    )
    p = [0.01, 0.02, 0.03, 0.04, 0.05, 0.001, 0.6, 0.04]
    vectors = {
        "welch_anova": [
            {"groups": list(PLANTS.values())} | plants_welch,
            {"groups": list(SPREAD.values())} | welch(list(SPREAD.values())),
        ],
        "kruskal_wallis": [{"groups": list(PLANTS.values())} | plants_kruskal],
        "games_howell": [{"groups": g, "pairs": games_howell(g)} for g in (PLANTS, SPREAD)],
        "mann_whitney": [{"values": SMALL[0], "reference": SMALL[1]} | mann_whitney(*SMALL)],
        "equivalence": [
            {"value": v, "error": e, "df": df, "bound": b, "p": tost(v, e, df, b)}
            for v, e, df, b in (
                (0.01, 0.02, 9, 0.05),
                (-0.06, 0.01, 4.5, 0.05),
                (0.0, 0.004, 30, 0.05),
            )
        ],
        "over_repetitions": [
            {"values": v, "reference": r} | over_repetitions(v, r)
            for v, r in (COMPLETE, [each[:1] for each in COMPLETE])
        ],
        "sign_flips": [{"differences": d, "p": sign_flips(d)} for d in FLIPS],
        "benjamini_hochberg": [{"p": p, "adjusted": benjamini_hochberg(p)}],
        "log_rank": [
            {"values": TIMES[0], "reference": TIMES[1], "limit": LIMIT} | log_rank(*TIMES, LIMIT)
        ],
        "confidence_sequence": [
            {"values": pairs, "spread": s, "p": min(1.0, 1 / mixture_factor(t, len(pairs), s))}
            for s in (1.0, 0.5)
        ],
    }
    print(json.dumps(vectors, indent=1))


if __name__ == "__main__":
    main()
