// What every header of the library builds on: how its names are exported, and which interface they belong to.
#pragma once

/// Marks what libcuprum.so exports; everything else is compiled with hidden visibility.
#define CUPRUM_API __attribute__((visibility("default")))

/// The interface that a program is compiled against, as a part of the names that it links to: with a library of another
/// one it does not start, instead of going wrong later. Before 1.0 a minor version may change it, from then on only a
/// major one. CMakeLists.txt checks that it is the project's version, src/exports.map.in and the SONAME follow it.
#define CUPRUM_ABI v0_1
