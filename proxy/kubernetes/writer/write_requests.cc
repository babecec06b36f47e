#include "proxy/kubernetes/writer/write_requests.h"

#include <utility>

#include "proxy/base/json_writer.h"

namespace sluice::kubernetes {

ApiRequest createRequest(std::string path, std::string body) {
  return {http::Method::kPost, std::move(path), std::move(body), "application/json"};
}

ApiRequest mergePatchRequest(std::string path, std::string body) {
  return {http::Method::kPatch, std::move(path), std::move(body), "application/merge-patch+json"};
}

ApiRequest applyRequest(const std::string& path, std::string_view manager, ApplyConflicts conflicts, std::string body) {
  std::string target = path + "?fieldManager=" + std::string(manager);
  if (conflicts == ApplyConflicts::kForce) target += "&force=true";
  return {http::Method::kPatch, std::move(target), std::move(body), "application/apply-patch+yaml"};
}

ApiRequest deleteRequest(std::string path, std::string_view uid) {
  base::JsonWriter json;
  json.beginObject().member("kind", "DeleteOptions").member("apiVersion", "v1");
  json.member("propagationPolicy", "Background");
  json.key("preconditions").beginObject().member("uid", uid).endObject().endObject();
  return {http::Method::kDelete, std::move(path), json.take(), "application/json"};
}

}  // namespace sluice::kubernetes
