#include "proxy/server/command_line/argument_checks.h"

#include <algorithm>

#include "config/ground/patterns.h"
#include "proxy/base/terms/caller.h"
#include "proxy/base/text.h"
#include "proxy/compile/gateways/address_pool.h"
#include "proxy/control/explain/explained_caller.h"
#include "proxy/server/command_line/endpoint.h"

namespace sluice::server {

std::string checkEndpoint(const std::string& text) {
  return parseEndpoint(text) ? std::string() : "'" + text + "' is not ADDRESS:PORT, as 127.0.0.1:9901 or [::1]:9901";
}

std::string checkImage(const std::string& text) {
  const auto fits = [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\'' && c != '#'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits) ? std::string() : "'" + text + "' is no image";
}

std::string checkNamespace(const std::string& text) {
  return config::isDnsLabel(text) ? std::string() : "'" + text + "' is no namespace";
}

std::string checkGatewayName(const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool named = slash != std::string::npos && config::isDnsLabel(text.substr(0, slash)) &&
                     config::isDnsSubdomain(text.substr(slash + 1));
  return named ? std::string() : "'" + text + "' is not NAMESPACE/NAME";
}

std::string checkAccount(const std::string& text) {
  return control::splitAccount(text) ? std::string() : "'" + text + "' is not NAMESPACE/ACCOUNT";
}

std::string checkAssurance(const std::string& text) {
  return base::assuranceOf(text) ? std::string() : "'" + text + "' is not None, Address, Token or Certificate";
}

std::string checkAddressPool(const std::string& text) {
  const auto pool = compile::AddressPool::parse(text);
  return pool ? std::string() : pool.error().detail;
}

std::string checkZone(const std::string& text) {
  if (config::isLabelValue(text)) return {};
  return base::quote(text) +
         " is no zone: it must have 1 to 63 letters, digits, '-', '_' and '.', with a letter or a "
         "digit at each end";
}

}  // namespace sluice::server
