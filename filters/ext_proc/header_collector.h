// Collects the header changes of one answer, and checks them against the rules.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "filters/ext_proc/answers.h"

namespace sluice::filters::ext_proc {

class HeaderCollector {
 public:
  /// Takes one change. Changes of fields that belong to the gateway are left out, as in Envoy. An empty value is used
  /// only if `keepsEmpty` is true.
  void set(std::string_view name, std::string_view value, HeaderChange::Action action, bool keepsEmpty);
  void remove(std::string_view name);

  /// Returns the fault of the changes, as the continuation of "the server's answer"; empty if there is none.
  const std::string& wrong() const { return wrong_; }
  HeaderChanges&& take() { return std::move(changes_); }

 private:
  bool count(std::size_t bytes);
  bool setPseudo(std::string_view name, std::string_view value);

  HeaderChanges changes_;
  std::string wrong_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

/// Reads the digits of a final status: 200 to 599.
std::optional<std::uint16_t> finalStatus(std::string_view digits);

}  // namespace sluice::filters::ext_proc
