// A kubeconfig in a folder of its own, whose parts a test replaces.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "proxy/base/base64.h"
#include "proxy/kubernetes/access/access_files.h"
#include "proxy/kubernetes/access/kubeconfig.h"
#include "test/kubernetes/access/access_folder.h"
#include "test/support/test_pki.h"

namespace sluice::kubernetes {

class Kubeconfigs : public ::testing::Test {
 protected:
  /// Writes a kubeconfig whose parts are maps in braces. Returns its path.
  std::string writeParts() const {
    return folder_.write("config",
                         "apiVersion: v1\nkind: Config\npreferences: {}\ncurrent-context: here\n"
                         "contexts:\n- name: here\n  context: " +
                             context_ + "\nclusters:\n- name: ours\n  cluster: " + cluster_ +
                             "\nusers:\n- name: me\n  user: " + user_ + "\n");
  }

  base::Result<ApiAccess> read() const { return readKubeconfig(writeParts()); }
  base::Result<ApiAccess> readText(const std::string& text) const {
    return readKubeconfig(folder_.write("config", text));
  }
  /// Returns the error, with "FILE" for the kubeconfig's path.
  std::string refusal() const { return detailOf(read()); }
  std::string refusalOf(const std::string& text) const { return detailOf(readText(text)); }
  std::string detailOf(const base::Result<ApiAccess>& access) const {
    if (access.ok()) return "read";
    std::string detail = access.error().detail;
    const std::string file = folder_ / "config";
    if (detail.starts_with(file)) detail.replace(0, file.size(), "FILE");
    return detail;
  }

  static std::string base64(const std::string& text) { return base::encodeBase64(text); }
  static std::string authoritiesOf(const std::string& pem) { return pki::TrustStore::parse(pem)->fingerprint(); }
  static std::string chainOf(const std::string& pem) { return pki::CertificateChain::parse(pem)->fingerprint(); }

  const AccessFolder folder_;
  const sluice::test::CertifiedKey authority_ = sluice::test::makeAuthority();
  const sluice::test::CertifiedKey client_ = sluice::test::issueClient(authority_, "me");
  const sluice::test::CertifiedKey otherClient_ = sluice::test::issueClient(authority_, "other");
  std::string context_ = "{cluster: ours, user: me}";
  std::string cluster_ = "{server: 'https://api.example.com:6443'}";
  std::string user_ = "{token: first-token}";
};

}  // namespace sluice::kubernetes
