import CSodium

/// The functions of libsodium that signing needs.
enum Sodium {
    static let seedSize = Int(crypto_sign_ed25519_SEEDBYTES)
    static let publicKeySize = Int(crypto_sign_ed25519_PUBLICKEYBYTES)
    static let signatureSize = Int(crypto_sign_ed25519_BYTES)

    /// Initializes libsodium once, at its first use: the initialization selects the fastest code and opens the system's
    /// random generator. It fails only on a system without one.
    private static let isReady = sodium_init() >= 0

    static func randomBytes(count: Int) -> [UInt8] {
        precondition(isReady, "the system has no random generator")
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return bytes
    }

    static func keyPair(_ seed: [UInt8]) -> (publicKey: [UInt8], secretKey: [UInt8]) {
        precondition(isReady && seed.count == seedSize)
        var publicKey = [UInt8](repeating: 0, count: publicKeySize)
        var secretKey = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_SECRETKEYBYTES))
        crypto_sign_ed25519_seed_keypair(&publicKey, &secretKey, seed)
        return (publicKey, secretKey)
    }

    static func signature(of message: [UInt8], seed: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: signatureSize)
        var secretKey = keyPair(seed).secretKey
        crypto_sign_ed25519_detached(&signature, nil, message, UInt64(message.count), secretKey)
        sodium_memzero(&secretKey, secretKey.count)
        return signature
    }

    static func verifies(_ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard isReady, signature.count == signatureSize, publicKey.count == publicKeySize else { return false }
        return crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }
}
