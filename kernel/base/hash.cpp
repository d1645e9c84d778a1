// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <cstdio>
#include <cstdlib>

#include <openssl/evp.h>

#include "base/text.hpp"

namespace agentforge::kernel {

std::string sha256(std::string_view bytes) {
    // Fetched at the first hash, so a program that hashes nothing does not initialise OpenSSL.
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    if (algorithm == nullptr || EVP_Digest(bytes.data(), bytes.size(), digest, &length, algorithm, nullptr) != 1 ||
        length != 32) {
        std::fputs("agentforge: OpenSSL offers no SHA-256\n", stderr);
        std::abort();
    }
    constexpr char hexadecimal[] = "0123456789abcdef";
    std::string text(64, '0');
    for (std::size_t i = 0; i < 32; ++i) {
        text[2 * i] = hexadecimal[digest[i] >> 4U];
        text[2 * i + 1] = hexadecimal[digest[i] & 15U];
    }
    return text;
}

std::string keyed_sha256(const std::string& key, std::string_view text) { return sha256(key + sha256(key + std::string(text))); }

std::string hash_of(const json::value& value) { return sha256(to_json_canonical(value)); }

}  // namespace agentforge::kernel
