# Golden values by R itself: Rscript vectors/statistics/r.R > vectors/statistics/r.json
# Debian: r-base-core, r-cran-survival, r-cran-nlme.
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
value <- function(name, ...) {
  numbers <- vapply(c(...), function(each) trimws(formatC(each, digits = 15, format = "g")), "")
  sprintf('  "%s": [%s]', name, paste(numbers, collapse = ", "))
}
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
        power.t.test(n = 20, power = 0.8, type = "one.sample")$delta)
), collapse = ",\n"))
cat("\n}\n")
