#include "proxy/kubernetes/access/kubeconfig.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/yaml/yaml_reader.h"
#include "proxy/base/base64.h"
#include "proxy/base/json_writer.h"
#include "proxy/base/text.h"
#include "proxy/kubernetes/access/access_files.h"
#include "proxy/kubernetes/access/server_url.h"
#include "proxy/pki/pem.h"

namespace sluice::kubernetes {
namespace {

using config::FieldReader;
using config::ObjectContext;
using config::Value;

constexpr std::size_t kMaxKubeconfigBytes = std::size_t{1024} * 1024;
constexpr std::size_t kMaxEntries = 10000;  // clusters, users or contexts of one kubeconfig

bool isPlainPath(std::string_view text) {
  return base::findInvalidUtf8OrControl(text) == std::string_view::npos &&
         text.find_first_of("\t\r\n") == std::string_view::npos;
}
bool isCertifiedName(std::string_view text) { return !canonicalHost(text).empty(); }

constexpr config::TextRule kAccessPath{isPlainPath, "a path without control characters", 4096};
constexpr config::TextRule kCertifiedName{isCertifiedName, "a domain name or an IP address", 254};
constexpr config::TextRule kEntryName{config::isAnyText, "a name", 4096};

struct RefusedField {
  std::string_view key;
  std::string_view message;
};

constexpr std::string_view kPlugins =
    "it is not supported: give tokenFile, token, or client-certificate and client-key instead";
constexpr std::string_view kPluginsOfPeople =
    "credential plugins are for commands that a person runs, such as `sluice status --kubernetes`; `run` and "
    "`controller` "
    "do not run them: give tokenFile, token, or client-certificate and client-key instead";
constexpr std::string_view kPasswords =
    "passwords are not supported: give tokenFile, token, or client-certificate and client-key instead";
constexpr std::string_view kImpersonation =
    "impersonation is not supported: give the credentials of a user who has the permissions";
constexpr RefusedField kRefusedOfUsers[] = {
    {"auth-provider", kPlugins},       {"username", kPasswords},
    {"password", kPasswords},          {"as", kImpersonation},
    {"as-uid", kImpersonation},        {"as-groups", kImpersonation},
    {"as-user-extra", kImpersonation},
};
constexpr RefusedField kRefusedOfClusters[] = {
    {"proxy-url", "proxies are not supported: give a server that is reached without one"},
};

/// Returns true for "", [] and the like, which kubeconfigs have in place of an absent field.
bool isEmptyValue(const Value& value) {
  return (value.isString() && value.text.empty()) || (value.isList() && value.items.empty());
}

void refuseFields(FieldReader& reader, std::span<const RefusedField> refused) {
  for (const RefusedField& each : refused) {
    const Value* value = reader.find(each.key);
    if (value != nullptr && !isEmptyValue(*value)) reader.error(each.key, std::string(each.message));
  }
}

/// Returns an empty text if the field is absent, empty or wrong.
std::string optionalText(FieldReader& reader, std::string_view key, const config::TextRule& rule) {
  const Value* value = reader.find(key);
  return value == nullptr || isEmptyValue(*value) ? std::string() : reader.text(key, rule);
}

/// Like the function above, for a text that no message may quote.
base::Secret optionalSecret(FieldReader& reader, std::string_view key) {
  const Value* value = reader.find(key);
  if (value == nullptr) return {};
  if (!value->isString()) reader.error(key, "must be a string: put it in quotes");
  return value->isString() ? base::Secret(value->text) : base::Secret();
}

/// Returns the certificates of a PEM file that may contain their key, too, like that of the kubelet. An unterminated
/// block is among them.
std::string certificateBlocks(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  std::string blocks;
  for (std::size_t begin = pem.find(kBegin); begin != std::string_view::npos; begin = pem.find(kBegin)) {
    const std::size_t end = pem.find(kEnd, begin);
    const std::size_t length = end == std::string_view::npos ? end : end + kEnd.size() - begin;
    blocks.append(pem.substr(begin, length)).append("\n");
    pem.remove_prefix(length == std::string_view::npos ? pem.size() : begin + length);
  }
  return blocks;
}

/// The bytes of a PEM file, and where they came from.
struct PemSource {
  std::string_view key;  // the field
  std::string prefix;    // "PATH: " for messages; empty if the field itself holds the bytes
  base::Secret pem;
};

/// Returns the text before the problem, with its place.
base::Error refusalBy(const config::Problem& problem) {
  std::string text(problem.position.fileName());
  if (problem.position.line > 0)
    text += ":" + std::to_string(problem.position.line) + ":" + std::to_string(problem.position.column);
  for (const std::string* part : {&problem.object, &problem.field}) {
    if (!part->empty()) text.append(": ").append(*part);
  }
  return base::Error::config(text + ": " + problem.message);
}

/// Reads the entries of the current context of one or more kubeconfigs into an ApiAccess. It collects all problems, and
/// refuses the files if there is one.
class KubeconfigReading {
 public:
  /// Without `run`, plugins are refused.
  explicit KubeconfigReading(RunPlugin run = {}) : run_(std::move(run)) {}

  base::Result<ApiAccess> read(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      const base::Result<base::Secret> text = readAccessFile(path, kMaxKubeconfigBytes);
      if (!text) return text.error();
      readText(path, text->reveal());
    }
    if (!config::hasErrors(problems_)) readFiles();
    if (config::hasErrors(problems_)) return refusal();
    access_.fingerprint = fingerprintOfAccess(access_);
    return std::move(access_);
  }

 private:
  struct KubeconfigText {
    config::Position position;
    std::string folder;
    config::Document document;
  };
  /// An entry of a list of named ones.
  struct NamedEntry {
    const Value* body;  // null if it is empty
    config::Position position;
    std::string folder;  // of its file
  };

  void readText(const std::string& path, std::string_view text);
  void readFiles();
  std::string currentContext();
  void readContext(const std::string& name);
  std::optional<NamedEntry> find(std::string_view listKey, std::string_view bodyKey, const std::string& name);
  std::optional<NamedEntry> findIn(std::size_t file, std::string_view listKey, std::string_view bodyKey,
                                   const std::string& name);
  void readCluster(FieldReader& cluster);
  void readUser(FieldReader& user);
  void readToken(FieldReader& user);
  void takeToken(FieldReader& user, std::string_view key, const std::string& prefix, const base::Secret& text);
  void readClientCertificate(FieldReader& user);
  void takeClientCertificate(FieldReader& user, const PemSource& certificate, const PemSource& key);
  void usePlugin(FieldReader& user);
  std::string clusterJson() const;
  std::optional<PemSource> pemOf(FieldReader& reader, std::string_view fileKey, std::string_view dataKey);
  std::string resolved(const std::string& path) const;
  base::Error refusal() const;

  const RunPlugin run_;
  config::Problems problems_;
  ObjectContext context_{"", problems_};  // of the files as a whole
  std::vector<KubeconfigText> files_;
  std::vector<FieldReader> tops_;  // of the files
  std::string folder_;             // of the file with the entry that is read
  std::string authorities_;        // PEM
  ApiAccess access_;
};

void KubeconfigReading::readText(const std::string& path, std::string_view text) {
  const config::YamlOrigin origin{.file = std::make_shared<const std::string>(path)};
  config::Problems problems;
  std::vector<config::Document> documents = config::readYaml(text, origin, problems);
  problems_.insert(problems_.end(), problems.begin(), problems.end());
  if (config::hasErrors(problems)) return;
  std::erase_if(documents, [](const config::Document& document) { return document.root.isNull(); });
  const config::Position position{.file = origin.file};
  if (documents.size() != 1)
    return context_.error(position, "", documents.empty() ? "is empty" : "holds more than one document");
  files_.push_back({position, std::filesystem::path(path).parent_path().string(), std::move(documents.front())});
}

void KubeconfigReading::readFiles() {
  for (const KubeconfigText& file : files_) tops_.emplace_back(&file.document.root, "", file.position, context_);
  if (context_.errors() > 0) return;
  const std::string name = currentContext();
  if (context_.errors() == 0) readContext(name);
}

/// Returns the name of the current context, which the first file decides that sets it.
std::string KubeconfigReading::currentContext() {
  std::string name;
  for (FieldReader& top : tops_) {
    const std::string kind = optionalText(top, "kind", kEntryName);
    if (!kind.empty() && kind != "Config")
      top.error("kind", "is " + base::quote(kind) + ", but a kubeconfig's is Config");
    const std::string current = optionalText(top, "current-context", kEntryName);
    if (name.empty()) name = current;
  }
  if (name.empty() && context_.errors() == 0)
    tops_.front().error("current-context", "is not set: kubectl config use-context NAME sets it");
  return name;
}

void KubeconfigReading::readContext(const std::string& name) {
  const std::optional<NamedEntry> found = find("contexts", "context", name);
  if (!found) return;

  ObjectContext context("context " + base::quote(name), problems_);
  FieldReader reader(found->body, "", found->position, context);
  const std::string cluster = optionalText(reader, "cluster", kEntryName);
  const std::string user = optionalText(reader, "user", kEntryName);
  access_.nameSpace = optionalText(reader, "namespace", config::rule::kNamespace);
  if (access_.nameSpace.empty()) access_.nameSpace = "default";
  if (context.errors() > 0) return;
  if (cluster.empty()) return reader.error("cluster", "is required");

  if (const std::optional<NamedEntry> entry = find("clusters", "cluster", cluster)) {
    ObjectContext its("cluster " + base::quote(cluster), problems_);
    FieldReader body(entry->body, "", entry->position, its);
    folder_ = entry->folder;
    readCluster(body);
  }
  // Without a user, requests are anonymous.
  if (user.empty()) return;
  if (const std::optional<NamedEntry> entry = find("users", "user", user)) {
    ObjectContext its("user " + base::quote(user), problems_);
    // A file that was cut off here must not be taken for one without credentials.
    if (entry->body == nullptr || entry->body->isNull())
      return its.error(entry->position, "", "is empty: write {} for a user without credentials");
    FieldReader body(entry->body, "", entry->position, its);
    folder_ = entry->folder;
    readUser(body);
  }
}

std::optional<KubeconfigReading::NamedEntry> KubeconfigReading::find(std::string_view listKey, std::string_view bodyKey,
                                                                     const std::string& name) {
  const std::size_t errors = context_.errors();
  for (std::size_t file = 0; file < files_.size(); ++file) {
    std::optional<NamedEntry> found = findIn(file, listKey, bodyKey, name);
    if (found || context_.errors() > errors) return found;
  }
  tops_.front().error(listKey, "has no entry of the name " + base::quote(name));
  return std::nullopt;
}

std::optional<KubeconfigReading::NamedEntry> KubeconfigReading::findIn(std::size_t file, std::string_view listKey,
                                                                       std::string_view bodyKey,
                                                                       const std::string& name) {
  FieldReader& top = tops_[file];
  std::optional<NamedEntry> found;
  for (const config::Item& item : top.list(listKey, kMaxEntries)) {
    const Value* itsName = item.value->find("name");
    if (itsName == nullptr || !itsName->isString() || itsName->text != name) continue;
    if (found) {
      top.error(listKey, "has two entries of the name " + base::quote(name));
      return std::nullopt;
    }
    found = NamedEntry{item.value->find(bodyKey), item.value->position, files_[file].folder};
  }
  return found;
}

void KubeconfigReading::readCluster(FieldReader& cluster) {
  refuseFields(cluster, kRefusedOfClusters);
  const base::Secret server = optionalSecret(cluster, "server");
  access_.insecureSkipVerify = cluster.boolean("insecure-skip-tls-verify", false);
  const std::string serverName = optionalText(cluster, "tls-server-name", kCertifiedName);
  const std::optional<PemSource> authorities = pemOf(cluster, "certificate-authority", "certificate-authority-data");
  if (cluster.context().errors() > 0) return;
  if (server.empty()) return cluster.error("server", "is required");
  base::Result<ServerUrl> url = parseServerUrl(server.reveal());
  if (!url) return cluster.error("server", url.error().detail);
  access_.host = url->host;
  access_.port = url->port;
  access_.pathPrefix = url->pathPrefix;
  access_.tls = url->tls;
  access_.serverName = canonicalHost(serverName.empty() ? url->host : serverName);
  // A certificate names a host without the dot of the root, and so does SNI (RFC 6066 section 3).
  if (access_.serverName.ends_with('.')) access_.serverName.pop_back();
  if (!authorities) return;
  if (access_.insecureSkipVerify)
    return cluster.error(authorities->key, "is given, but insecure-skip-tls-verify too: leave one of them out");
  base::Result<pki::TrustStore> trust = pki::TrustStore::parse(authorities->pem.reveal());
  if (!trust) return cluster.error(authorities->key, authorities->prefix + trust.error().detail);
  access_.trust = std::make_shared<const pki::TrustStore>(std::move(trust).value());
  authorities_ = authorities->pem.reveal();
}

void KubeconfigReading::readUser(FieldReader& user) {
  refuseFields(user, kRefusedOfUsers);
  // Another process on the port of a plain connection would get them.
  if (!access_.tls || user.context().errors() > 0) return;
  readToken(user);
  readClientCertificate(user);
  if (user.context().errors() == 0) usePlugin(user);
}

void KubeconfigReading::usePlugin(FieldReader& user) {
  const Value* exec = user.find("exec");
  if (exec == nullptr || isEmptyValue(*exec)) return;
  if (!run_) return user.error("exec", std::string(kPluginsOfPeople));
  FieldReader reader = user.map("exec");
  CredentialPlugin plugin = readPlugin(reader, folder_);
  if (user.context().errors() > 0) return;
  if (!access_.token.empty() || access_.clientCertificate != nullptr) return;
  plugin.environment.emplace_back(kExecInfo, infoForPlugin(plugin, clusterJson()));
  const base::Result<base::Secret> output = run_(plugin);
  if (!output) return user.error("exec", output.error().detail);
  const std::string prefix = "the credential plugin " + base::quote(plugin.command) + ": ";
  base::Result<ExecCredential> credential = readExecCredential(output->reveal(), plugin);
  if (!credential) return user.error("exec", prefix + credential.error().detail);
  if (!credential->token.empty()) takeToken(user, "exec", prefix, credential->token);
  if (credential->key.empty()) return;
  takeClientCertificate(user, {"exec", prefix, credential->certificate}, {"exec", prefix, credential->key});
}

/// Returns the cluster as plugins get it.
std::string KubeconfigReading::clusterJson() const {
  const bool isIpv6 = access_.host.find(':') != std::string::npos;
  base::JsonWriter json;
  json.beginObject().member("server", "https://" + (isIpv6 ? "[" + access_.host + "]" : access_.host) + ":" +
                                          std::to_string(access_.port) + access_.pathPrefix);
  if (access_.serverName != access_.host) json.member("tls-server-name", access_.serverName);
  if (access_.insecureSkipVerify) json.key("insecure-skip-tls-verify").json("true");
  if (!authorities_.empty()) json.member("certificate-authority-data", base::encodeBase64(authorities_));
  return json.endObject().take();
}

void KubeconfigReading::readToken(FieldReader& user) {
  const base::Secret given = optionalSecret(user, "token");
  const std::string file = optionalText(user, "tokenFile", kAccessPath);
  if (user.context().errors() > 0) return;
  if (!file.empty()) {
    const std::string path = resolved(file);
    const base::Result<base::Secret> text = readAccessFile(path, kMaxTokenBytes);
    const bool legible = text.ok() && !withoutOuterSpace(text->reveal()).empty();
    if (!legible && !given.empty()) return takeToken(user, "token", "", given);
    if (!text) return user.error("tokenFile", text.error().detail);
    return takeToken(user, "tokenFile", path + ": ", *text);
  }
  if (!given.empty()) takeToken(user, "token", "", given);
}

void KubeconfigReading::takeToken(FieldReader& user, std::string_view key, const std::string& prefix,
                                  const base::Secret& text) {
  base::Result<base::Secret> token = parseToken(text.reveal());
  if (!token) return user.error(key, prefix + token.error().detail);
  access_.token = std::move(token).value();
}

void KubeconfigReading::readClientCertificate(FieldReader& user) {
  const std::optional<PemSource> certificate = pemOf(user, "client-certificate", "client-certificate-data");
  const std::optional<PemSource> key = pemOf(user, "client-key", "client-key-data");
  if (user.context().errors() > 0 || (!certificate && !key)) return;
  if (!key) return user.error(certificate->key, "has no key: give client-key or client-key-data too");
  if (!certificate)
    return user.error(key->key, "has no certificate: give client-certificate or client-certificate-data too");
  takeClientCertificate(user, *certificate, *key);
}

void KubeconfigReading::takeClientCertificate(FieldReader& user, const PemSource& certificate, const PemSource& key) {
  const std::string blocks = certificateBlocks(certificate.pem.reveal());
  base::Result<pki::CertificateChain> chain =
      pki::CertificateChain::parse(blocks.empty() ? certificate.pem.reveal() : blocks);
  if (!chain) return user.error(certificate.key, certificate.prefix + chain.error().detail);
  base::Result<pki::PrivateKey> secret = pki::PrivateKey::parse(key.pem);
  if (!secret) return user.error(key.key, key.prefix + secret.error().detail);
  if (!secret->matches(*chain)) {
    return user.error(key.key, key.prefix +
                                   "does not belong to the certificate; while both are being replaced, "
                                   "this passes");
  }
  access_.clientCertificate = std::make_shared<const pki::CertificateChain>(std::move(chain).value());
  access_.clientKey = std::make_shared<const pki::PrivateKey>(std::move(secret).value());
}

std::optional<PemSource> KubeconfigReading::pemOf(FieldReader& reader, std::string_view fileKey,
                                                  std::string_view dataKey) {
  const std::size_t errors = reader.context().errors();
  const base::Secret data = optionalSecret(reader, dataKey);
  const std::string file = optionalText(reader, fileKey, kAccessPath);
  if (reader.context().errors() > errors) return std::nullopt;
  if (!data.empty()) {
    std::optional<std::string> pem = base::decodeBase64(data.reveal());
    if (!pem) {
      reader.error(dataKey, "is not base64");
      return std::nullopt;
    }
    return PemSource{dataKey, "", base::Secret(*std::move(pem))};
  }
  if (file.empty()) return std::nullopt;
  const std::string path = resolved(file);
  base::Result<base::Secret> pem = readAccessFile(path, pki::kMaxPemBytes);
  if (pem) return PemSource{fileKey, path + ": ", std::move(pem).value()};
  reader.error(fileKey, pem.error().detail);
  return std::nullopt;
}

std::string KubeconfigReading::resolved(const std::string& path) const {
  return (std::filesystem::path(folder_) / path).string();
}

base::Error KubeconfigReading::refusal() const {
  return refusalBy(*std::find_if(problems_.begin(), problems_.end(), [](const config::Problem& each) {
    return each.severity == config::Severity::kError;
  }));
}

}  // namespace

base::Result<ApiAccess> readKubeconfig(const std::string& path) { return KubeconfigReading().read({path}); }

base::Result<ApiAccess> readKubeconfigs(const std::vector<std::string>& paths, const RunPlugin& run) {
  std::vector<std::string> there;
  std::string all;
  for (const std::string& path : paths) {
    std::error_code error;
    const bool isMissing = !std::filesystem::exists(path, error) && !error;
    if (!isMissing) there.push_back(path);
    all.append(all.empty() ? "" : ", ").append(path);
  }
  if (there.empty()) return base::Error::config("there is no kubeconfig: " + all);
  return KubeconfigReading(run).read(there);
}

std::vector<std::string> kubeconfigList(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    std::string path(list.substr(0, end));
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

}  // namespace sluice::kubernetes
