#include "proxy/server/command_line/place_flags.h"

#include "proxy/server/command_line/argument_checks.h"
#include "proxy/server/kubernetes/cluster_access.h"

namespace sluice::server {
void takeAddressPool(CLI::App& run, std::optional<compile::AddressPool>& pool) {
  run.add_option_function<std::string>(
         "--address-pool", [&pool](const std::string& text) { pool = *compile::AddressPool::parse(text); },
         "with --controller: give each Gateway without an address one of its own from this range, such as "
         "127.8.0.0/24; the machine must be able to listen there (default: such Gateways listen on all addresses)")
      ->type_name("CIDR")
      ->check(checkAddressPool);
}

void takeZone(CLI::App& run, std::string& zone) {
  run.add_option("--zone", zone,
                 "the zone where the gateway runs, whose endpoints policies may prefer, such as eu-west-1a (default: "
                 "the environment variable SLUICE_ZONE, else unknown)")
      ->type_name("ZONE")
      ->check(checkZone);
}

std::string completeZone(std::string& zone) {
  if (!zone.empty()) return {};
  zone = environmentVariable(kZoneVariable);
  const std::string wrong = zone.empty() ? std::string() : checkZone(zone);
  return wrong.empty() ? wrong : std::string(kZoneVariable) + ": " + wrong;
}

}  // namespace sluice::server
