#include "proxy/kubernetes/access/credential_plugin.h"

#include <filesystem>

#include "config/fields/creation_time.h"
#include "proxy/base/json_writer.h"
#include "proxy/content/json.h"

namespace sluice::kubernetes {
namespace {

using config::FieldReader;

constexpr std::size_t kMaxWords = 1000;  // arguments or variables of one plugin
constexpr std::string_view kCredentialKind = "ExecCredential";
constexpr std::string_view kVersions[] = {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"};
constexpr std::string_view kModes[] = {"Never", "IfAvailable", "Always"};
constexpr config::TextRule kWordOfPlugin{config::isAnyText, "a text", 65536};
constexpr config::TextRule kHintOfPlugin{config::isAnyText, "a text", 4096};

void readEnvironment(FieldReader& exec, CredentialPlugin& plugin) {
  for (const config::Item& item : exec.list("env", kMaxWords)) {
    FieldReader variable = exec.map(item);
    std::string name = variable.requiredText("name", kWordOfPlugin);
    const config::Value* value = variable.require("value");
    if (value != nullptr && !value->isString()) variable.error("value", "must be a string: put it in quotes");
    if (name.find('=') != std::string::npos) variable.error("name", "must not contain =");
    if (value != nullptr) plugin.environment.emplace_back(std::move(name), value->text);
  }
}

base::Error wrongOutput(const std::string& what) { return base::Error::config("its output " + what); }

/// Returns an empty text if there is no such member.
base::Result<base::Secret> textOfStatus(const config::Value& status, std::string_view key) {
  const config::Value* found = status.find(key);
  if (found == nullptr || found->isNull()) return base::Secret();
  if (!found->isString()) return wrongOutput("has a status." + std::string(key) + " that is no string");
  return base::Secret(found->text);
}

base::Status checkExpiry(const config::Value& status) {
  const config::Value* expiry = status.find("expirationTimestamp");
  if (expiry == nullptr || expiry->isNull()) return base::Done{};
  if (expiry->isString() && config::sortableTime(expiry->text)) return base::Done{};
  return wrongOutput("has a status.expirationTimestamp that is no time of RFC 3339");
}

}  // namespace

CredentialPlugin readPlugin(FieldReader& exec, const std::string& folder) {
  CredentialPlugin plugin;
  exec.require("apiVersion");
  plugin.apiVersion = exec.word("apiVersion", kVersions, kVersions[0]);
  plugin.command = exec.requiredText("command", kWordOfPlugin);
  if (plugin.command.find('/') != std::string::npos) {
    plugin.command = (std::filesystem::path(folder) / plugin.command).string();
  }
  plugin.arguments = exec.texts("args", kWordOfPlugin, kMaxWords);
  readEnvironment(exec, plugin);
  plugin.installHint = exec.text("installHint", kHintOfPlugin);
  plugin.wantsCluster = exec.boolean("provideClusterInfo", false);
  if (exec.word("interactiveMode", kModes, kModes[1]) == "Always") {
    exec.error("interactiveMode", "is Always, but the plugin gets no terminal: log in by its own command first");
  }
  return plugin;
}

std::string infoForPlugin(const CredentialPlugin& plugin, const std::string& cluster) {
  base::JsonWriter json;
  json.beginObject().member("apiVersion", plugin.apiVersion).member("kind", kCredentialKind);
  json.key("spec").beginObject();
  if (plugin.wantsCluster) json.key("cluster").json(cluster);
  json.key("interactive").json("false").endObject();
  return json.endObject().take();
}

base::Result<ExecCredential> readExecCredential(std::string_view output, const CredentialPlugin& plugin) {
  const base::Result<content::Value> root = content::parseJson(output, {.bytes = kMaxPluginBytes});
  if (!root) return wrongOutput("is not JSON: " + root.error().detail);
  const auto is = [&](std::string_view key, std::string_view text) {
    const content::Value* found = root->find(key);
    return found != nullptr && found->isString() && found->text == text;
  };
  if (!is("kind", kCredentialKind)) return wrongOutput("is no ExecCredential");
  if (!is("apiVersion", plugin.apiVersion)) return wrongOutput("has another apiVersion than " + plugin.apiVersion);
  const content::Value* status = root->find("status");
  if (status == nullptr || !status->isMap()) return wrongOutput("has no status");
  ExecCredential credential;
  for (const auto& [key, member] :
       {std::pair("token", &ExecCredential::token), std::pair("clientCertificateData", &ExecCredential::certificate),
        std::pair("clientKeyData", &ExecCredential::key)}) {
    base::Result<base::Secret> text = textOfStatus(*status, key);
    if (!text) return text.error();
    credential.*member = std::move(text).value();
  }
  if (base::Status checked = checkExpiry(*status); !checked.ok()) return checked.error();
  if (credential.certificate.empty() != credential.key.empty()) {
    return wrongOutput("must have status.clientCertificateData and status.clientKeyData together");
  }
  if (credential.token.empty() && credential.key.empty()) {
    return wrongOutput("has neither status.token nor status.clientCertificateData");
  }
  return credential;
}

}  // namespace sluice::kubernetes
