// Small pieces of text that several verbs put together: lists of words, and names that are safe
// outside of enginery. Threads: free functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/values.h"

namespace enginery {

// "1 engine", "2 engines"; the plural where an s does not make it.
std::string counted(uint64_t count, std::string_view thing, std::string_view plural = {});

// "a, b, c"; "" for no words.
std::string joined(const std::vector<std::string>& words, std::string_view separator);

// A build's note for people. "x: N = 1", the importer's word for a symbolic dimension of an input,
// becomes a sentence; others stay.
std::string readable_note(const std::string& note);

// What a measured time is worth: "" where nobody else used the device (below a tenth), else
// "measured while other programs used 59 % of the device". `foreign_load`: 0..1.
std::string load_remark(double foreign_load);

// The name with every character replaced by '_' that is neither an ASCII letter or digit nor one of
// `also_safe`. What names of engines and of output files are made with.
std::string with_safe_characters(std::string name, std::string_view also_safe);
// One file name, without extension, for each of different names, in order: safe characters and
// "._-" alone, no two the same. A name that is safe already stays; of others that would meet, later
// ones get ".2", ".3" and so on.
std::vector<std::string> file_names_for(const std::vector<std::string>& names);

// "1980 MHz, 45 C, 350 W, throttled", as far as the device says it; "" where it says nothing.
std::string device_text(const DeviceReading& reading);
// Whether any of them says something of its device.
bool have_readings(const std::vector<WorkerView>& workers);

}  // namespace enginery
