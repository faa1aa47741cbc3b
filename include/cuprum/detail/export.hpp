// CUPRUM_API marks what libcuprum.so exports; everything else is compiled with hidden visibility.
#pragma once

#define CUPRUM_API __attribute__((visibility("default")))
