import MQTTSharing

/// The command `share keygen`: creates a signing key.
struct ShareKeygenCommand: Command {
    static let syntax = CommandSyntax(
        name: "share keygen", operands: "FILE", operandCount: 1...1,
        summary: "create a key with which a device signs what it shares",
        details: """
            Writes a secret key to FILE, which must not exist and which only its owner may read. Prints the line of the
            device, named --share-name, for the other devices' list of trusted devices (--share-trust). Give FILE to
            'locate' and 'serve' with --share-sign-key.

            example: indoorloc share keygen --share-name forklift-7 forklift-7.key >>trusted-devices
            """,
        options: [SharingOptions.nameOption])

    private let file: String
    private let line: String
    private let key = SharingSigningKey.generate()

    init(_ arguments: ParsedArguments) throws {
        file = arguments.operands[0]
        line = "\(key.publicKey) \(try SharingOptions.device(arguments))"
    }

    func run() async throws {
        try key.write(to: file)
        var lines = LineOutput()
        try lines.line(line)
        try lines.flush()
    }
}
