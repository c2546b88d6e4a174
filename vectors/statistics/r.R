# Golden values by R itself: Rscript vectors/statistics/r.R > vectors/statistics/r.json
# R 4.2.2 from Debian: r-base-core, r-cran-survival, r-cran-nlme. Only this file needs it, and no test does.
suppressPackageStartupMessages({library(survival); library(nlme)})
ctrl <- c(4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14)
trt1 <- c(4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69)
trt2 <- c(6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26)
plants <- data.frame(weight = c(ctrl, trt1, trt2), group = factor(rep(c("ctrl", "trt1", "trt2"), each = 10)))
before <- c(0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
after <- c(1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)
small <- c(12.1, 15.3, 9.8, 14.2, 11.0, 13.7)
large <- c(16.4, 10.5, 17.9, 18.3, 14.9)
x <- c(520.1, 498.7, 533.9, 541.2, 507.4, 560.3, 515.8, 529.6)
y <- c(551.0, 530.2, 541.7, 580.9, 512.5, 601.8, 560.1, 549.3)
p <- c(0.001, 0.04, 0.03, 0.2, 0.049)
time <- c(3, 5, 6, 6, 9, 10, 10, 2, 3, 3, 4, 5, 7, 10)
event <- c(1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0)
arm <- rep(c("one", "two"), each = 7)
site <- factor(rep(c("a", "b", "c", "d", "e"), each = 4))
log_ratio <- c(-0.12, -0.08, -0.15, -0.10, -0.02, 0.03, -0.04, 0.01, -0.20, -0.17, -0.25, -0.19,
               -0.07, -0.05, -0.11, -0.06, -0.13, -0.09, -0.16, -0.12)
aov1 <- summary(aov(weight ~ group, subset(plants, group != "trt2")))[[1]]
welch <- oneway.test(weight ~ group, plants)
kruskal <- kruskal.test(weight ~ group, plants)
paired <- t.test(after, before, paired = TRUE)
signed <- wilcox.test(x, y, paired = TRUE, conf.int = TRUE)
summed <- wilcox.test(small, large)
rank <- survdiff(Surv(time, event) ~ arm)
mixed <- lme(y ~ 1, random = ~ 1 | site, data.frame(y = log_ratio, site), method = "REML")

# Loads of two runs in ms, sites x repetitions. One page has slow loads, one a block that was lost.
set.seed(15, "Mersenne-Twister", "Inversion")
loads <- function(repetitions, gain) {
  shared <- rep(rnorm(repetitions, 0, 0.03), each = 3)
  round(c(800, 1500, 2600) * gain * exp(shared + rnorm(3 * repetitions, 0, 0.08)), 1)
}
tcp <- matrix(loads(12, 1), 3); quic <- matrix(loads(12, 0.93), 3)
tcp[2, c(2, 5, 11)] <- 2.5 * tcp[2, c(2, 5, 11)]; tcp[1, 5] <- 2 * tcp[1, 5]; quic[3, 8] <- 3 * quic[3, 8]
tcp_again <- matrix(loads(9, 1.1), 3); quic_again <- matrix(loads(9, 0.97), 3)
limit <- c(1600, 2900, 5200)
late_tcp <- replace(tcp, cbind(c(1, 2, 3, 1, 3, 2), c(1, 1, 4, 9, 10, 12)), Inf); late_quic <- replace(quic, 20, Inf)
log_ratios <- log(quic) - log(tcp)
one_lost <- replace(log_ratios, cbind(2, 7), NA)
few_left <- replace(log_ratios, cbind(2, 4:12), NA)
# The mean of the sites' means, its error over repetitions as clusters: each site's own n / (n - 1).
over_repetitions <- function(d) {
  block <- data.frame(d = c(d), site = factor(c(row(d))), repetition = c(col(d)))
  block <- block[!is.na(block$d), ]
  fit <- lm(d ~ 0 + site, block)
  n <- as.vector(table(block$site))
  influence <- residuals(fit) / sqrt(n * (n - 1))[block$site] / length(n)
  error <- sqrt(sum(rowsum(influence, block$repetition)^2))
  own <- tapply(block$d, block$site, var) / n
  freedom <- min(length(unique(block$repetition)) - 1, sum(own)^2 / sum(own^2 / (n - 1)))
  mean <- mean(coef(fit))
  c(mean, mean + c(-1, 1) * qt(0.975, freedom) * error, 2 * pt(-abs(mean) / error, freedom), freedom)
}
t_of <- function(...) with(t.test(...), c(estimate[1] - sum(estimate[-1]), conf.int, p.value))
signs_of <- function(m) {
  n <- length(m); rank <- qbinom(0.025, n, 0.5)
  c(median(m), sort(m)[rank], sort(m)[n + 1 - rank], binom.test(sum(m < 0), sum(m != 0))$p.value)
}
# Every choice of signs of the repetitions' differences in number, one by one.
sign_changes <- function(counts) {
  counts <- counts[counts != 0]
  sums <- as.matrix(expand.grid(rep(list(c(-1, 1)), length(counts)))) %*% abs(counts)
  mean(abs(sums) >= abs(sum(counts)))
}
slow <- function(runs) runs > 1.5 * apply(runs, 1, median)
# Games and Howell: Welch's t by the law of Tukey's q.
games_howell <- function(a, b, groups) {
  own <- c(var(a) / length(a), var(b) / length(b)); error <- sqrt(sum(own) / 2)
  freedom <- sum(own)^2 / sum(own^2 / (c(length(a), length(b)) - 1)); d <- mean(a) - mean(b)
  c(d, d + c(-1, 1) * qtukey(0.95, groups, freedom) * error,
    ptukey(abs(d) / error, groups, freedom, lower.tail = FALSE))
}
# The t test's mixture martingale by its definition, a mean of likelihood ratios, and not in closed form.
evidence <- function(t, n) {
  likelihood <- function(effect) dnorm(effect) * suppressWarnings(dt(t, n - 1, sqrt(n) * effect))
  integrate(likelihood, -8, 8, rel.tol = 1e-10, subdivisions = 1000)$value / dt(t, n - 1)
}
sequence <- function(d, level) {
  n <- length(d); error <- sd(d) / sqrt(n)
  reach <- uniroot(function(t) log(evidence(t, n) * level), c(1, 30), tol = 1e-10)$root * error
  c(mean(d), mean(d) + c(-1, 1) * reach, 1 / evidence(mean(d) / error, n))
}
rank_bounds <- function(d, share, level) {
  rank <- qbinom(c(level / 2, 1 - level / 2), length(d), share) + c(0, 1)
  c(quantile(d, share, type = 1), sort(d)[rank])
}
quantile_ratio <- function(share) {
  of <- function(runs) apply(runs, 1, quantile, share, type = 1)
  exp(mean(log(of(quic) / of(tcp)))) - 1
}
papers_gain <- function(x, r) {
  ratio <- mean(x) / mean(r)
  ratio - 1 + t.test(x - ratio * r)$conf.int / mean(r)
}

# Blocks of three sites on six machines, one of them 14 % off; site and machine do not cross evenly.
set.seed(18, "Mersenne-Twister", "Inversion")
fleet <- data.frame(site = factor(rep(1:3, c(17, 16, 15))), machine = factor(c(1:6)[(0:47 * 5 + 0:47 %/% 7) %% 6 + 1]))
fleet <- fleet[-c(3, 11, 20, 21, 40), ]
fleet$y <- round(c(-0.05, -0.12, 0.02)[fleet$site] + 0.14 * (fleet$machine == 4) + rnorm(nrow(fleet), 0, 0.06), 4)
of_sites <- lm(y ~ site, fleet); of_both <- lm(y ~ site + machine, fleet, contrasts = list(machine = "contr.sum"))
at_random <- lme(y ~ 0 + site, fleet, ~ 1 | machine, method = "REML")
combined <- function(rows) {
  estimate <- rows %*% coef(of_both); error <- sqrt(diag(rows %*% vcov(of_both) %*% t(rows)))
  cbind(estimate, error, 2 * pt(-abs(estimate / error), df.residual(of_both)))
}
gains_of_machines <- function() {
  found <- combined(cbind(1, 1 / 3, 1 / 3, contr.sum(6)))
  c(t(found[, 1] + qt(0.975, df.residual(of_both)) * found[, 2] %o% c(0, -1, 1)))
}
distances <- function() combined(cbind(0, 0, 0, contr.sum(6)))
# Three machines of 24, 21 and 23 blocks, each cut into four batches in their order.
of_long <- rep(1:3, c(24, 21, 23))
long <- data.frame(machine = factor(of_long), site = factor((seq_along(of_long) * 3 + of_long) %% 4))
long$batch <- interaction(of_long, ave(of_long, of_long, FUN = function(own) ((seq_along(own) - 1) * 4) %/% length(own)))
long$y <- round(0.05 * (long$machine == 2) + rnorm(12, 0, 0.04)[long$batch] + rnorm(nrow(long), 0, 0.06), 4)
of_batches <- function() {
  steps <- anova(lm(y ~ site, long), lm(y ~ site + machine, long), lm(y ~ site + batch, long))
  error <- steps[3, "Sum of Sq"] / steps[3, "Df"]; f <- steps[2, "Sum of Sq"] / steps[2, "Df"] / error
  c(f, steps[2:3, "Df"], pf(f, steps[2, "Df"], steps[3, "Df"], lower.tail = FALSE), error)
}
of_one_long <- function() {
  fit <- lm(y ~ site + machine, long, contrasts = list(machine = "contr.sum"))
  row <- c(1, 1 / 4, 1 / 4, 1 / 4, 1, 0); scale <- of_batches()[5] / summary(fit)$sigma^2
  error <- sqrt(scale * drop(row %*% vcov(fit) %*% row))
  drop(row %*% coef(fit)) + c(0, -1, 1) * qt(0.975, of_batches()[3]) * error
}
another_machine <- function() {
  between <- as.numeric(VarCorr(at_random)[1, 1]); mean <- mean(fixef(at_random))
  c(mean, mean + c(-1, 1) * qt(0.975, 6 - 2) * sqrt(between + sum(vcov(at_random)) / 3^2))
}

value <- function(name, ...) {
  numbers <- vapply(c(...), function(each) trimws(formatC(each, digits = 15, format = "g")), "")
  sprintf('  "%s": [%s]', name, paste(numbers, collapse = ", "))
}
# What is named is what is computed.
by <- function(what, command) value(paste0(what, ": ", command), eval(parse(text = command)))
cat("{\n")
cat(paste(c(
  value("aov(weight ~ group) of ctrl, trt1: F, p", aov1[["F value"]][1], aov1[["Pr(>F)"]][1]),
  value("oneway.test(weight ~ group): F, df, df, p", welch$statistic, welch$parameter, welch$p.value),
  value("kruskal.test(weight ~ group): H, p", kruskal$statistic, kruskal$p.value),
  value("t.test(after, before, paired = TRUE): low, high, p", paired$conf.int, paired$p.value),
  value("wilcox.test(x, y, paired = TRUE, conf.int = TRUE): estimate, low, high, p",
        signed$estimate, signed$conf.int, signed$p.value),
  value("wilcox.test(small, large): W, p", summed$statistic, summed$p.value),
  value("p.adjust(p, 'holm')", p.adjust(p, "holm")),
  value("p.adjust(p, 'BH')", p.adjust(p, "BH")),
  value("survdiff(Surv(time, event) ~ arm): chi squared, p", rank$chisq, 1 - pchisq(rank$chisq, 1)),
  value("lme(y ~ 1, random = ~ 1 | site): mean, standard error, site variance",
        fixef(mixed), sqrt(vcov(mixed)[1, 1]), as.numeric(VarCorr(mixed)[1, 1])),
  value("binom.test(8, 50)$conf.int", binom.test(8, 50)$conf.int),
  value("power.t.test(n = 20, power = 0.8, type = 'one.sample'): delta",
        power.t.test(n = 20, power = 0.8, type = "one.sample")$delta),
  value("given, sites x repetitions: tcp", t(tcp)),
  value("given, sites x repetitions: quic", t(quic)),
  value("given, sites x repetitions: tcp_again", t(tcp_again)),
  value("given, sites x repetitions: quic_again", t(quic_again)),
  value("given, sites: limit", limit),
  by("mean log ratio", "t_of(colMeans(log_ratios))"),
  by("mean log ratio, one of six", "t_of(colMeans(log_ratios), conf.level = 1 - 0.05 / 6)"),
  by("difference", "t_of(colMeans(quic - tcp))"),
  by("median log ratio", "signs_of(apply(log_ratios, 2, median))"),
  by("median of 36 blocks", "signs_of(c(log_ratios))"),
  by("a lost block", "over_repetitions(one_lost)"),
  by("few blocks left", "over_repetitions(few_left)"),
  by("every block there", "over_repetitions(log_ratios)"),
  by("equivalence, low, 20 %",
     "t.test(colMeans(log_ratios), mu = log(0.8), alternative = 'greater')$p.value"),
  by("equivalence, high, 20 %",
     "t.test(colMeans(log_ratios), mu = log(1.2), alternative = 'less')$p.value"),
  by("slow loads, tcp", "c(mean(slow(tcp)), binom.test(sum(slow(tcp)), length(tcp))$conf.int)"),
  by("slow loads, quic", "c(mean(slow(quic)), binom.test(sum(slow(quic)), length(quic))$conf.int)"),
  by("slow loads, p", "sign_changes(colSums(slow(quic)) - colSums(slow(tcp)))"),
  by("timeouts, p", "sign_changes(colSums(late_quic == Inf) - colSums(late_tcp == Inf))"),
  by("of one site, p", "binom.test(1, 1 + 7)$p.value"),
  by("up to the limit, mean log ratio",
     "t_of(colMeans(log(pmin(late_quic, limit)) - log(pmin(late_tcp, limit))))"),
  by("up to the limit, difference", "t_of(colMeans(pmin(late_quic, limit) - pmin(late_tcp, limit)))"),
  by("up to the limit, one site", "t_of(pmin(late_quic[1, ], 1600), pmin(late_tcp[1, ], 1600), paired = TRUE)"),
  by("two runs, change",
     "t_of(colMeans(log(quic_again / tcp_again)), colMeans(log_ratios), conf.level = 1 - 0.05 / 2)"),
  by("two groups", "t_of(tcp_again[1, ], tcp[1, ])"),
  by("budget, p75 of 36 loads", "rank_bounds(c(tcp), 0.75, 0.05)"),
  by("budget, p50 of 12 loads, one of four", "rank_bounds(tcp[2, ], 0.5, 0.05 / 4)"),
  by("budget, blocks for p75 below what 85 % are below",
     "Filter(function(n) 1 - pbinom(qbinom(0.975, n, 0.75), n, 0.85) >= 0.9, 8:1000)[1]"),
  by("budget, blocks for p75 above what 60 % are below",
     "Filter(function(n) pbinom(qbinom(0.025, n, 0.75) - 1, n, 0.6) >= 0.9, 8:1000)[1]"),
  by("quantile gain, p50 and p75", "c(quantile_ratio(0.5), quantile_ratio(0.75))"),
  by("ratio of means, one site", "papers_gain(quic[1, ], tcp[1, ])"),
  by("Games and Howell, ctrl - trt1", "games_howell(ctrl, trt1, 3)"),
  by("Games and Howell, trt1 - trt2", "games_howell(trt1, trt2, 3)"),
  by("confidence sequence at 5 %", "sequence(colMeans(log_ratios), 0.05)"),
  by("confidence sequence, 6 values at 1 %", "sequence(colMeans(log(quic_again / tcp_again))[1:6], 0.01)"),
  value("given, blocks: site", fleet$site),
  value("given, blocks: machine", fleet$machine),
  value("given, blocks: y", fleet$y),
  by("machines, F test", "unlist(anova(of_sites, of_both)[2, c('F', 'Df', 'Res.Df', 'Pr(>F)')])"),
  by("machines, gains with bounds", "gains_of_machines()"),
  by("machines, distances", "distances()[, 1]"),
  by("machines, distances, p after Holm", "p.adjust(distances()[, 3], 'holm')"),
  by("machines, deviations", "as.numeric(VarCorr(at_random)[, 2])"),
  by("another machine", "another_machine()"),
  value("given, long: site", long$site),
  value("given, long: machine", long$machine),
  value("given, long: y", long$y),
  by("machines against batches, F test", "of_batches()[1:4]"),
  by("machines against batches, gain of the first", "of_one_long()")
), collapse = ",\n"))
cat("\n}\n")
