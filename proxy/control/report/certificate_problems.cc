#include "proxy/control/report/certificate_problems.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "proxy/base/timestamp.h"

namespace sluice::control {
namespace {

constexpr base::Duration kShortLife = std::chrono::hours(24 * 3);

/// Times far in the past or future must not overflow.
base::WallTime timeBefore(base::WallTime time, base::Duration by) {
  return time < base::WallTime::min() + by ? base::WallTime::min() : time - by;
}

/// Returns when the warnings about the certificate begin. The short ones are made anew all the time, so that two weeks
/// would always be too late.
base::WallTime soonAt(const pki::Validity& validity) {
  const base::WallTime longLife = timeBefore(validity.until, kExpirySoon);
  const bool isShort = validity.from >= timeBefore(validity.until, kShortLife);
  return isShort ? timeBefore(validity.until, (validity.until - validity.from) / 3) : longLife;
}

std::string timeText(base::WallTime time) { return std::string(base::Timestamp().text(time)); }

std::string whyNotValid(const pki::Validity& validity, base::WallTime now) {
  if (now < validity.from) return "is not valid before " + timeText(validity.from);
  return "expired on " + timeText(validity.until);
}

/// Returns the subject of a sentence about one certificate of the file.
std::string subjectOf(const NamedCertificate& certificate, std::size_t index) {
  std::string subject = certificate.source + ": ";
  if (certificate.times.size() == 1) {
    return subject + (certificate.use == NamedCertificate::Use::kAuthorities ? "the authority" : "the certificate");
  }
  return subject + "certificate " + std::to_string(index + 1) + " of " + std::to_string(certificate.times.size());
}

std::string consequence(NamedCertificate::Use use) {
  switch (use) {
    case NamedCertificate::Use::kListener:
      return ", so clients refuse to connect";
    case NamedCertificate::Use::kClient:
      return ", so Backends refuse it";
    case NamedCertificate::Use::kAuthorities:
      break;
  }
  return ", so no certificate is accepted by it";
}

}  // namespace

config::Problem certificateProblem(const NamedCertificate& certificate, base::WallTime now) {
  config::Problem problem{config::Severity::kWarning, certificate.position, certificate.object, certificate.field, ""};
  const std::vector<pki::Validity>& times = certificate.times;
  const auto isValid = [now](const pki::Validity& each) { return each.covers(now); };
  const bool usable = certificate.use == NamedCertificate::Use::kAuthorities
                          ? std::any_of(times.begin(), times.end(), isValid)
                          : isValid(times.front());
  // The first one that is not valid, or else the one that expires first.
  const auto worst = std::min_element(times.begin(), times.end(), [&](const auto& a, const auto& b) {
    return isValid(a) != isValid(b) ? isValid(b) : isValid(a) && a.until < b.until;
  });
  const std::string subject = subjectOf(certificate, static_cast<std::size_t>(worst - times.begin()));
  if (!usable) {
    problem.severity = config::Severity::kError;
    problem.message = subject + " " + whyNotValid(*worst, now) + consequence(certificate.use);
  } else if (!isValid(*worst)) {
    problem.message = subject + " " + whyNotValid(*worst, now);
  } else if (soonAt(*worst) <= now) {
    problem.message = subject + " expires soon: it is valid until " + timeText(worst->until);
  }
  return problem;
}

config::Problems certificateProblems(const std::vector<NamedCertificate>& certificates, base::WallTime now) {
  config::Problems problems;
  for (const NamedCertificate& each : certificates) {
    config::Problem problem = certificateProblem(each, now);
    if (!problem.message.empty()) problems.push_back(std::move(problem));
  }
  return problems;
}

base::WallTime nextCertificateChange(const std::vector<NamedCertificate>& certificates, base::WallTime now) {
  base::WallTime next = base::WallTime::max();
  for (const NamedCertificate& each : certificates) {
    for (const pki::Validity& validity : each.times) {
      for (const base::WallTime time : {validity.from, soonAt(validity), validity.until}) {
        if (time > now) next = std::min(next, time);
      }
    }
  }
  return next;
}

}  // namespace sluice::control
