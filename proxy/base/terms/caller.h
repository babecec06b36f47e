// The workload that makes a request, and how well it has proven that it is the one.
//
// A value. Where nothing is known, there is no Caller (a null pointer), or one without names and with kNone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::base {

/// From the weakest to the strongest proof.
enum class Assurance : std::uint8_t { kNone, kAddress, kToken, kCertificate };

struct Caller {
  std::string nameSpace;       // empty if the proof names none
  std::string serviceAccount;  // empty if the proof names none
  std::string principal;       // the name that the proof gives, such as a SPIFFE ID or a user
  Assurance assurance = Assurance::kNone;

  friend bool operator==(const Caller&, const Caller&) = default;
};

/// Returns "None", "Address", "Token" or "Certificate".
constexpr std::string_view assuranceName(Assurance assurance) {
  switch (assurance) {
    case Assurance::kAddress:
      return "Address";
    case Assurance::kToken:
      return "Token";
    case Assurance::kCertificate:
      return "Certificate";
    case Assurance::kNone:
      break;
  }
  return "None";
}

/// Returns the assurance of that name; nullopt if there is none.
constexpr std::optional<Assurance> assuranceOf(std::string_view name) {
  for (const Assurance each : {Assurance::kNone, Assurance::kAddress, Assurance::kToken, Assurance::kCertificate}) {
    if (assuranceName(each) == name) return each;
  }
  return std::nullopt;
}

}  // namespace sluice::base
