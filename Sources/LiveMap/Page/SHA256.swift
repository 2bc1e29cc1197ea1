import CSodium

/// The SHA-256 digest (NIST FIPS 180-4, Secure Hash Standard, 2015), from libsodium.
enum SHA256 {
    /// Returns the 32 bytes of the digest.
    static func digest(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        // The function needs no initialization of libsodium, and can't fail.
        crypto_hash_sha256(&digest, message, UInt64(message.count))
        return digest
    }
}
