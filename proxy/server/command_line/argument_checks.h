// Checks of the values of options. Each returns the text of a mistake, or an empty text if the value is right.
#pragma once

#include <string>

namespace sluice::server {

std::string checkEndpoint(const std::string& text);
std::string checkImage(const std::string& text);
std::string checkNamespace(const std::string& text);
std::string checkGatewayName(const std::string& text);
std::string checkAccount(const std::string& text);
std::string checkAssurance(const std::string& text);
std::string checkAddressPool(const std::string& text);
std::string checkZone(const std::string& text);

}  // namespace sluice::server
