#include "proxy/content/form_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "test/support/seeds.h"

namespace sluice::content {
namespace {

constexpr std::size_t kMostValue = 16;

/// Returns what the scan finds in a form with the boundary X that is fed in pieces that end at `cuts`.
std::string scannedForm(std::string_view form, const std::vector<std::size_t>& cuts) {
  FormScan scan("X", "model", kMostValue);
  std::size_t from = 0;
  for (const std::size_t to : cuts) {
    if (!scan.feed(form.substr(from, to - from))) return "broken";
    from = to;
  }
  if (!scan.feed(form.substr(from)) || !scan.end()) return "broken";
  if (scan.found() == nullptr) return "none";
  return "value " + scan.found()->text + (scan.found()->isCut ? "..." : "");
}

std::string scannedForm(std::string_view form) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < form.size(); ++i) cuts.push_back(i);
  const std::string byteByByte = scannedForm(form, cuts);
  EXPECT_EQ(scannedForm(form, {}), byteByByte) << form;
  return byteByByte;
}

std::string formPart(const std::string& disposition, const std::string& content, const std::string& more = {}) {
  return "--X\r\nContent-Disposition: form-data; " + disposition + "\r\n" + more + "\r\n" + content + "\r\n";
}
std::string modelPart(const std::string& value) { return formPart("name=\"model\"", value); }

const std::string kFormEnd = "--X--\r\n";
const std::string kFilePart = formPart("name=\"file\"; filename=\"a \\\"b\\\".mp3\"", "\xff\r\n\r\n--\r\r\n-X\n--x",
                                       "Content-Type: audio/mpeg\r\n");

TEST(FormScan, FindsAFieldWhereverItStands) {
  EXPECT_EQ(scannedForm(modelPart("whisper-1") + kFormEnd), "value whisper-1");
  EXPECT_EQ(scannedForm(kFilePart + modelPart("whisper-1") + kFormEnd), "value whisper-1");
  EXPECT_EQ(scannedForm(modelPart("whisper-1") + kFilePart + kFormEnd), "value whisper-1");
  EXPECT_EQ(scannedForm(kFilePart + kFormEnd), "none");
  EXPECT_EQ(scannedForm("--X--"), "none");
  EXPECT_EQ(scannedForm(formPart("NAME=model", "a") + kFormEnd), "value a");
  EXPECT_EQ(scannedForm(formPart("name=Model", "a") + formPart("name=\"m\\\"odel\"", "a") + kFormEnd), "none");
  EXPECT_EQ(scannedForm(formPart("name=model", "a", "Content-Transfer-Encoding: 8bit\r\n") + kFormEnd), "value a");
}

TEST(FormScan, KeepsTheValueByteForByteUpToItsBound) {
  for (const char* value : {"", "\r", "\n", "\r\n", "a\r\n", "\r\n-", "\r\n--", "a\r\n--Y", "\r\r\n\r\n"}) {
    EXPECT_EQ(scannedForm(modelPart(value) + kFormEnd), "value " + std::string(value));
  }
  const std::string most(kMostValue, 'a');
  EXPECT_EQ(scannedForm(modelPart(most) + kFormEnd), "value " + most);
  EXPECT_EQ(scannedForm(modelPart(most + "a") + kFormEnd), "value " + most + "...");
  EXPECT_EQ(scannedForm(modelPart(most + "aaaaaaa") + kFormEnd), "value " + most + "...");
}

TEST(FormScan, RefusesWhatServersReadInDifferentWays) {
  const std::string good = modelPart("a");
  for (const std::string& form : std::vector<std::string>{
           "",
           "--X",
           good,
           good + "--X-",
           good + "--X-y",
           good + kFormEnd + "x",
           "preamble\r\n" + good + kFormEnd,
           "\r\n" + good + kFormEnd,
           good + good + kFormEnd,
           good + "--X \r\n" + kFormEnd,
           "--X\r\n\r\na\r\n" + kFormEnd,
           "--X\r\nContent-Type: text/plain\r\n\r\na\r\n" + kFormEnd,
           "--X\nContent-Disposition: form-data; name=model\n\na\n--X--",
           "--X\r\nContent-Disposition: form-data; name=model\r\n\r\n--X--",
           formPart("name=file", "a\n--X--") + kFormEnd,
           formPart("name=file", "a\r\n--Xtra") + kFormEnd,
           formPart("name=\"mo\\del\"", "a") + kFormEnd,
           formPart("name*=UTF-8''model", "a") + kFormEnd,
           formPart("name=\"x\"; name*0=\"model\"", "a") + kFormEnd,
           formPart("name=model@x", "a") + kFormEnd,
           formPart("name=model/x", "a") + kFormEnd,
           formPart("name=model; name=other", "a") + kFormEnd,
           formPart("name=\"model\"; filename=\"a\"", "a") + kFormEnd,
           formPart("name=\"model", "a") + kFormEnd,
           formPart("name", "a") + kFormEnd,
           formPart("filename=a", "a") + kFormEnd,
           formPart("name=model", "YQ==", "Content-Transfer-Encoding: base64\r\n") + kFormEnd,
           formPart("name=model", "a", "Content-Disposition: form-data; name=other\r\n") + kFormEnd,
           formPart("name=a", "a", " folded: x\r\n") + kFormEnd,
           formPart("name=a", "a", "no field\r\n") + kFormEnd,
           formPart("name=a", "a", "a: \x01\r\n") + kFormEnd,
           "--X\r\nContent-Disposition: attachment; name=model\r\n\r\na\r\n" + kFormEnd}) {
    EXPECT_EQ(scannedForm(form), "broken") << form;
  }
}

TEST(FormScan, IsBoundedInTheHeaderOfAPart) {
  const std::string line = "Content-Disposition: form-data; name=model\r\n";
  for (const bool fits : {true, false}) {
    const std::size_t padding =
        FormScan::kMostHeader - line.size() - std::string("a: \r\n\r\n").size() + (fits ? 0 : 1);
    const std::string form = "--X\r\n" + line + "a: " + std::string(padding, 'x') + "\r\n\r\nvalue\r\n" + kFormEnd;
    EXPECT_EQ(scannedForm(form), fits ? "value value" : "broken");
  }
  FormScan scan("X", "model", kMostValue);
  EXPECT_TRUE(scan.feed(kFilePart + "--X\r\n" + line + "\r\n"));
  EXPECT_TRUE(scan.isInside());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(scan.feed(std::string(10'000, '\n')));
  EXPECT_LT(scan.memory(), 2 * FormScan::kMostHeader);
  EXPECT_LE(scan.found()->text.size(), kMostValue + 2);
}

TEST(FormScan, FindsTheSameHoweverTheFormIsCut) {
  const std::vector<std::string> forms = {kFilePart + modelPart("whisper-1") + kFormEnd,
                                          modelPart("a\r\n--Y\r\n-") + kFilePart + kFormEnd,
                                          modelPart("a") + modelPart("b") + kFormEnd, kFilePart + "--X\r\nbroken"};
  for (const std::uint32_t seed : test::seeds(20, 20)) {
    std::mt19937_64 random(seed);
    for (const std::string& whole : forms) {
      std::string form = whole;
      if (random() % 2 == 0) form[random() % form.size()] = "\r\n-X:;\"a"[random() % 8];
      std::vector<std::size_t> cuts;
      for (std::size_t at = random() % 9; at < form.size(); at += random() % 9) cuts.push_back(at);
      EXPECT_EQ(scannedForm(form, cuts), scannedForm(form)) << "seed " << seed << ": " << form;
    }
  }
}

TEST(FormScan, ReadsTheBoundaryOfAContentType) {
  const auto boundary = [](const char* type) { return FormScan::boundaryOf(type); };
  EXPECT_EQ(boundary("multipart/form-data; boundary=----WebKitFormBoundary7MA4"), "----WebKitFormBoundary7MA4");
  EXPECT_EQ(boundary("multipart/form-data; boundary=a;"), "a");
  EXPECT_EQ(boundary("multipart/form-data;;charset=utf-8 ; Boundary=\"a b:c\""), "a b:c");
  for (const char* type :
       {"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=a; boundary=b", "multipart/form-data; boundary=\"a\nb\"",
        "multipart/form-data; boundary=\"a \"", "multipart/form-data; boundary=\"a",
        "multipart/form-data; boundary=a; boundary*=utf-8''b", "multipart/form-data; boundary=\"a\\b\"",
        "multipart/form-data; boundary=a@b", "multipart/form-data; xboundary=a"}) {
    EXPECT_EQ(boundary(type), "") << type;
  }
  const std::string longest(FormScan::kMostBoundary, 'a');
  EXPECT_EQ(FormScan::boundaryOf("multipart/form-data; boundary=" + longest), longest);
  EXPECT_EQ(FormScan::boundaryOf("multipart/form-data; boundary=a" + longest), "");
}

}  // namespace
}  // namespace sluice::content
