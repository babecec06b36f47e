// Compiles a configuration of files repeatedly with the caches of the last compilation, for tests of these caches.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "config/catalog/catalog_cache.h"
#include "config/load/text_cache.h"
#include "test/compile/compile_world.h"

namespace sluice::compile::test {

/// A folder of files that is read and compiled repeatedly, as in a process.
class CompiledFolder {
 public:
  /// If `controller` is not empty, a controller in this namespace keeps the Pods of Gateways.
  explicit CompiledFolder(processing::BuiltinTypes processors = {}, std::string controller = {})
      : processors_(std::move(processors)), controller_(std::move(controller)) {
    std::filesystem::create_directory(path_);
  }
  ~CompiledFolder() { std::filesystem::remove_all(path_); }

  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ + "/" + file, std::ios::trunc) << text;
  }
  /// The previous configuration stays alive during the compilation, as in a process. Its cached results must not change
  /// the new result.
  void compile() {
    config::Configuration loaded = config::load(config::readPaths({path_}, base::Secret(), texts_), nullptr);
    loaded.model.controllerNamespace = controller_;
    const SystemTrust trust = [] { return std::make_shared<const pki::TrustStore>(pki::TrustStore::system().value()); };
    previous_ = std::move(result_);
    config::Problems problems;
    const auto catalog = config::CatalogCache().read(loaded.model, supportOf(processors_), problems);
    result_ = compile::compile(loaded.model, {*catalog, processors_, trust}, cache_);
    CompileCache none;
    const CompileResult anew = compile::compile(loaded.model, {*catalog, processors_, trust}, none);
    EXPECT_EQ(statuses(result_), statuses(anew));
    EXPECT_EQ(result_.secrets, anew.secrets);
    previousModel_ = std::move(model_);
    model_ = std::move(loaded.model);
  }
  routing::RouteMatch match(const std::string& path, std::size_t bind = 0) const {
    return routing::routesOf(result_.snapshot->binds.at(bind).service)
        .match(RequestMaker("GET", "a.test", path).head());
  }
  const routing::Rule* rule(const std::string& path) const { return match(path).rule; }
  /// Returns the Secrets that the Pods of that Gateway may read.
  base::ObjectNames secretsOf(const std::string& nameSpace, const std::string& name) const {
    const auto found = result_.secrets.find({"Gateway", nameSpace, name});
    return found == result_.secrets.end() ? base::ObjectNames() : found->second;
  }
  /// Returns the endpoints of the only Service in use, joined.
  std::string endpoints() const {
    std::string text;
    for (const auto& backend : result_.snapshot->backends) {
      for (const routing::Endpoint& each : backend->endpoints.value_or(std::vector<routing::Endpoint>())) {
        text += each.ip + " ";
      }
    }
    return text;
  }
  /// Returns the zones of these, joined.
  std::string zones() const {
    std::string text;
    for (const auto& backend : result_.snapshot->backends) {
      for (const base::EndpointZones& each : backend->zones) text += each.zone + " ";
    }
    return text;
  }

 private:
  static std::string statuses(const CompileResult& result) {
    std::string text;
    for (const config::ObjectStatus& each : result.statuses) text += config::objectStatusJson(each) + "\n";
    return text;
  }

  const std::string path_ = testing::TempDir() + "sluice-compile-cache-test-" + std::to_string(getpid());
  const processing::BuiltinTypes processors_;
  const std::string controller_;
  config::TextCache texts_;
  config::Model model_;
  config::Model previousModel_;
  CompileCache cache_;
  CompileResult result_;
  CompileResult previous_;
};

}  // namespace sluice::compile::test
