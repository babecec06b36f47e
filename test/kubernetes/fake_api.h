// An API server in memory that answers by itself, with the objects that a test puts: lists, streams of lists, and
// watches that go on. It knows no schemas; further behaviour of real servers is tested with a real one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {

class FakeApi {
 public:
  explicit FakeApi(ApiRig& rig) : rig_(rig) {}

  /// Puts an object of the resource at `path` ("/api/v1/services"), by its members besides metadata, and `more`
  /// members of metadata.
  void put(const std::string& path, const std::string& nameSpace, const std::string& name, const std::string& members,
           const std::string& more = "") {
    Stored& object = objects_[path][{nameSpace, name}];
    const bool known = !object.members.empty();
    object = {++version_, more.empty() ? "" : "," + more, members.empty() ? "" : "," + members};
    tell(path, {nameSpace, name}, known ? "MODIFIED" : "ADDED");
  }
  void remove(const std::string& path, const std::string& nameSpace, const std::string& name) {
    ++version_;
    tell(path, {nameSpace, name}, "DELETED");
    objects_[path].erase({nameSpace, name});
  }

  /// Answers requests until none is left.
  void serve() {
    rig_.settle();
    while (next_ < rig_.requests()) {
      const std::size_t number = next_++;
      if (holds && rig_.target(number).find(*holds) != std::string::npos) {
        held.push_back(number);
      } else {
        answer(number);
      }
      rig_.settle();
    }
  }
  /// Answers the held requests, and holds no more of them.
  void release() {
    holds.reset();
    for (const std::size_t number : std::exchange(held, {})) {
      if (!rig_.request(number).reset) answer(number);
    }
    serve();
  }
  /// Moves the clock, in steps, and answers requests meanwhile.
  void pass(base::Duration time) {
    for (; time > base::Duration::zero(); time -= std::chrono::milliseconds(50)) {
      rig_.clock.advance(std::chrono::milliseconds(50));
      serve();
    }
  }
  /// Ends all watches of a resource.
  void endWatches(const std::string& path) {
    for (const Watch& watch : std::exchange(watches_, {})) {
      if (watch.scope.path == path) {
        rig_.finish(watch.number);
      } else {
        watches_.push_back(watch);
      }
    }
  }
  void answer(std::size_t number) {
    const Asked asked = readTarget(rig_.target(number));
    const bool secret = forbidden.contains(asked.path + " " + asked.name);
    if (forbidden.contains(asked.path) || secret) {
      return rig_.answer(number, 403, statusBody(403, asked.path + " is forbidden"));
    }
    if (absent.contains(asked.path)) return rig_.answer(number, 404, "404 page not found\n");
    if (!asked.watches) return rig_.answer(number, 200, list(asked), {{"content-type", "application/json"}});
    rig_.begin(number);
    watches_.push_back({number, asked});
    if (!asked.streams) return;
    std::string events;
    for (const auto& [key, object] : objects_[asked.path]) {
      if (asked.wants(key, object)) events += event("ADDED", render(key, object));
    }
    events += R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + std::to_string(version_) +
              R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})"
              "\n";
    rig_.send(number, events);
  }
  /// Returns how many requests had that in their target.
  std::size_t asked(const std::string& text) {
    std::size_t times = 0;
    for (std::size_t i = 0; i < rig_.requests(); ++i) times += rig_.target(i).find(text) != std::string::npos ? 1 : 0;
    return times;
  }

  std::set<std::string> absent;      // paths of resources
  std::set<std::string> forbidden;   // such paths, or a path, a space and the name of an object
  std::optional<std::string> holds;  // requests with that in their target are not answered
  std::vector<std::size_t> held;

 private:
  using Key = std::pair<std::string, std::string>;
  struct Stored {
    int version = 0;
    std::string metadata;
    std::string members;
  };
  struct Asked {
    std::string path;
    std::string nameSpace;
    std::string name;
    std::string label;  // "key=value", or a key that is there
    bool watches = false;
    bool streams = false;
    bool wants(const Key& key, const Stored& object) const {
      if (!nameSpace.empty() && key.first != nameSpace) return false;
      if (!name.empty() && key.second != name) return false;
      if (label.empty()) return true;
      const std::size_t equals = label.find('=');
      if (equals == std::string::npos) return object.metadata.find("\"" + label + "\":") != std::string::npos;
      return object.metadata.find("\"" + label.substr(0, equals) + "\":\"" + label.substr(equals + 1) + "\"") !=
             std::string::npos;
    }
  };
  struct Watch {
    std::size_t number;
    Asked scope;
  };

  static std::string decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        plain += text[i];
      } else {
        plain += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
      }
    }
    return plain;
  }
  static Asked readTarget(const std::string& target) {
    Asked asked;
    asked.path = target.substr(0, target.find('?'));
    constexpr std::string_view kOne = "/namespaces/";
    if (const std::size_t at = asked.path.find(kOne); at != std::string::npos) {
      const std::size_t end = asked.path.find('/', at + kOne.size());
      asked.nameSpace = asked.path.substr(at + kOne.size(), end - at - kOne.size());
      asked.path = asked.path.substr(0, at) + asked.path.substr(end);
    }
    const std::string query = "&" + target.substr(target.find('?') + 1) + "&";
    const auto value = [&](const std::string& key) {
      const std::size_t at = query.find("&" + key + "=");
      if (at == std::string::npos) return std::string();
      const std::size_t from = at + key.size() + 2;
      return decoded(query.substr(from, query.find('&', from) - from));
    };
    asked.watches = value("watch") == "true";
    asked.streams = value("sendInitialEvents") == "true";
    asked.label = value("labelSelector");
    const std::string field = value("fieldSelector");
    if (field.starts_with("metadata.name=")) asked.name = field.substr(14);
    return asked;
  }
  static std::string render(const Key& key, const Stored& object) {
    const std::string space = key.first.empty() ? "" : R"("namespace":")" + key.first + "\",";
    return R"({"metadata":{)" + space + R"("name":")" + key.second + R"(","resourceVersion":")" +
           std::to_string(object.version) + "\"" + object.metadata + "}" + object.members + "}";
  }
  static std::string event(const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
  }
  std::string list(const Asked& asked) {
    std::string items;
    for (const auto& [key, object] : objects_[asked.path]) {
      if (asked.wants(key, object)) items += (items.empty() ? "" : ",") + render(key, object);
    }
    return R"({"metadata":{"resourceVersion":")" + std::to_string(version_) + R"("},"items":[)" + items + "]}";
  }
  void tell(const std::string& path, const Key& key, const std::string& type) {
    const Stored& object = objects_[path][key];
    for (const Watch& watch : watches_) {
      if (watch.scope.path != path || !watch.scope.wants(key, object)) continue;
      if (!rig_.request(watch.number).reset) rig_.send(watch.number, event(type, render(key, object)));
    }
    serve();
  }

  ApiRig& rig_;
  std::map<std::string, std::map<Key, Stored>> objects_;  // by path
  std::vector<Watch> watches_;
  std::size_t next_ = 0;
  int version_ = 1;
};

}  // namespace sluice::kubernetes
