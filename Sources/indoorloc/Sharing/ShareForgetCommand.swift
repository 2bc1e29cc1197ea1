import MQTTSharing

/// Has Home Assistant forget a device.
struct ShareForgetCommand: Command {
    static let syntax = CommandSyntax(
        name: "share forget", operands: "ADDRESS", operandCount: 1...1,
        summary: "remove a device that '--home-assistant' had Home Assistant show",
        details: """
            ADDRESS is mqtt[s]://[USER@]HOST[:PORT]/ROOM, and --share-name the device; --share-prefix is that which it shares
            with. Prints under which topics the broker retained something of it, which is gone then. What still shares under
            that name comes back: stop it before.

            example: indoorloc share forget --share-name forklift-7 mqtt://broker.example.org/warehouse
            """,
        options: SharingOptions.brokerOptions)

    private let options: SharingOptions

    init(_ arguments: ParsedArguments) throws {
        options = try SharingOptions(address: arguments.operands[0], what: "ADDRESS", arguments)
    }

    func run() async throws {
        let removed = try await MQTTPositionSharing.forget(
            options.device, on: options.address.broker, settings: options.settings)
        if removed.isEmpty { StandardError.line("the broker retains nothing of '\(options.device)'") }
        var lines = LineOutput()
        for topic in removed { try lines.line("removed \(topic)") }
        try lines.flush()
    }
}
