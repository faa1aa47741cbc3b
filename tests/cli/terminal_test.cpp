#include "cuprum/terminal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "cuprum/command.hpp"
#include "cuprum/probe.hpp"

namespace cuprum::cli {
namespace {

TEST(Wrapped, BreaksAtBlanksAndIndents) { EXPECT_EQ(wrapped("one two three", 2, 9), "one two\n  three"); }

TEST(Wrapped, NeverBreaksAWord) { EXPECT_EQ(wrapped("a /very/long/path b", 0, 8), "a\n/very/long/path\nb"); }

TEST(Wrapped, KeepsLinesAndTheirIndentation) { EXPECT_EQ(wrapped("tried:\n  this", 1, 40), "tried:\n   this"); }

TEST(Printable, LeavesTextAlone) {
  EXPECT_EQ(printable("train --größe 5 \u20AC \U0001F600"), "train --größe 5 \u20AC \U0001F600");
}

TEST(Printable, HasNothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\nb\033[31mc\x7f\td"), "a?b?[31mc??d");
  EXPECT_EQ(printable("\xC2\x9B"
                      "1m"),
            "??1m");  // another way to write ESC [
}

TEST(Printable, HasNoBytesThatAreNoCharacters) {
  EXPECT_EQ(printable("\xFFx\xC3"), "?x?");
  EXPECT_EQ(printable("\xC0\xAF \xED\xA0\x80 \xF5\x80\x80\x80 \xE2\x82"), "?? ??? ???? ??");
}

TEST(Fitted, TakesAllLinesThatThereIsRoomFor) {
  EXPECT_EQ(fitted("a\nb\nc\n", 3), "a\nb\nc");
  EXPECT_EQ(fitted("a\n", 50), "a");
  EXPECT_EQ(fitted("", 50), "");
}

TEST(Fitted, SaysWhenThereAreMore) {
  EXPECT_EQ(fitted("a\nb\nc\nd\n", 3), "a\nb\n(2 more lines than the terminal has)");
  EXPECT_EQ(fitted("a\nb\n", 1), "(2 more lines than the terminal has)");
}

TEST(Bytes, HaveTheUnitThatReadsBest) {
  EXPECT_EQ(bytes(0), "0 bytes");
  EXPECT_EQ(bytes(1536), "1.5 KiB");
  EXPECT_EQ(bytes(std::uint64_t{141} << 30), "141.0 GiB");
}

TEST(Style, WithoutColoursLeavesTextAlone) {
  EXPECT_EQ(Style(false).bad("text"), "text");
  EXPECT_NE(Style(true).bad("text"), "text");
}

TEST(Probe, BringsTheAnswer) {
  EXPECT_EQ(Probe([] { return std::string(100000, 'x'); }).finish().text.size(), 100000u);
}

TEST(Probe, BringsTheWordsOfAnException) {
  Probe probe([]() -> std::string { throw std::runtime_error("no such thing"); });
  EXPECT_EQ(probe.finish().problem, "no such thing");
}

TEST(Probe, SurvivesACrash) {
  Probe probe([]() -> std::string {
    raise(SIGKILL);
    return {};
  });
  EXPECT_EQ(probe.finish().problem, "it crashed: Killed");
}

TEST(Probe, DoesNotWaitForEver) {
  Probe probe(
      []() -> std::string {
        for (;;) pause();
      },
      1);
  EXPECT_EQ(probe.finish().problem, "it did not answer in time");
}

const Verb verb = {.name = "verb", .operands = "", .options = {{"--json", "", ""}, {"--device", "N", ""}}};

TEST(Parse, TakesValuesInBothSpellings) {
  EXPECT_EQ(parse(verb, {"--device", "3"}).number("--device", 0), 3);
  EXPECT_EQ(parse(verb, {"--device=3", "--json"}).number("--device", 0), 3);
  EXPECT_EQ(parse(verb, {}).number("--device", 7), 7);
}

// What parsing these words, and asking for the number, is refused with.
std::string refusal(const std::vector<std::string>& words) {
  try {
    parse(verb, words).number("--device", 0);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Parse, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refusal({"--jsno"}), "there is no option '--jsno'; there are --json, --device, --help");
  EXPECT_EQ(refusal({"more"}), "'more' is more than it takes");
  EXPECT_EQ(refusal({"--json=1"}), "--json takes no value");
  EXPECT_EQ(refusal({"--device"}), "--device needs N after it");
  EXPECT_EQ(refusal({"--device", "-1"}), "--device is '-1'; it takes a number from 0");
  EXPECT_EQ(refusal({"--device=1x"}), "--device is '1x'; it takes a number from 0");
}

}  // namespace
}  // namespace cuprum::cli
