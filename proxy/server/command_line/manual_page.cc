#include "proxy/server/command_line/manual_page.h"

#include <algorithm>
#include <string_view>

#include "proxy/server/command_line/shell_text.h"

namespace sluice::server {
namespace {

/// Returns the text so that roff shows it as it is.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

constexpr std::string_view kParagraph = ".PP\n";

/// Returns a text for people (help_text.h) with its examples set apart. It begins with kParagraph.
std::string roffParagraphs(std::string_view text) {
  std::string out;
  bool example = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool begins = line.starts_with(' ');
    if (example && !begins) out += ".RE\n.fi\n";
    if (!example || !begins) out += kParagraph;
    if (begins && !example) out += ".nf\n.RS 4\n";
    example = begins;
    out += roff(line.substr(std::min(line.find_first_not_of(' '), line.size()))) + "\n";
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return out + (example ? ".RE\n.fi\n" : "");
}

std::string roffArgument(const ArgumentShape& argument, bool flag) {
  std::vector<std::string> names;
  for (const std::string& name : argument.names) names.push_back(flag ? bold(name) : italic(name));
  std::string text = ".TP\n" + joinedBy(", ", names);
  if (flag && !argument.value.empty()) text += " " + italic(argument.value);
  if (!flag && !argument.words().empty()) text += ": " + roff(argument.value);
  return text + "\n" + roff(argument.description) + (flag && argument.required ? " (required)" : "") + "\n";
}

bool isHelp(const ArgumentShape& option) { return option.names.back() == "--help"; }

/// Every command has --help, so only the program's own is described.
std::string roffOptions(const CommandShape& command, bool withHelp) {
  std::string text;
  for (const ArgumentShape& argument : command.arguments) text += roffArgument(argument, false);
  for (const ArgumentShape& option : command.options) {
    if (withHelp || !isHelp(option)) text += roffArgument(option, true);
  }
  return text;
}

std::string roffCommand(const CommandShape& command) {
  std::string text = ".SS \"" + roff(command.path) + " [\\fIOPTIONS\\fP]";
  for (const ArgumentShape& argument : command.arguments) text += " \\fI" + roff(argument.names.front()) + "\\fP";
  return text + "\"\n" + roff(command.description) + "\n" + roffOptions(command, false) +
         roffParagraphs(command.footer);
}

std::string upperCase(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return upper;
}

}  // namespace

std::string manualPage(const CommandShape& root, std::span<const HelpSection> sections) {
  std::string page = "." + std::string("TH SLUICE 1 \"\" \"sluice " SLUICE_VERSION "\" \"User Commands\"\n") +
                     ".SH NAME\nsluice \\- an egress gateway\n" +
                     ".SH SYNOPSIS\n.B sluice\n.I COMMAND\n[\\fIOPTIONS\\fR]\n" + ".SH DESCRIPTION\n" +
                     roff(root.description) + "\n.SH OPTIONS\n" + roffOptions(root, true) + ".SH COMMANDS\n";
  for (const CommandShape* command : allCommands(root)) {
    if (command != &root) page += roffCommand(*command);
  }
  for (const HelpSection& section : sections) {
    page += ".SH \"" + upperCase(section.title) + "\"\n" + roffParagraphs(section.text).substr(kParagraph.size());
  }
  return page;
}

}  // namespace sluice::server
