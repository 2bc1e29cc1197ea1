import MQTTSharing

/// The command `share forget`: removes a device from Home Assistant.
struct ShareForgetCommand: Command {
    static let syntax = CommandSyntax(
        name: "share forget", operands: "ADDRESS", operandCount: 1...1,
        summary: "remove a device that '--home-assistant' announced to Home Assistant",
        details: """
            ADDRESS is mqtt[s]://[USER@]HOST[:PORT]/ROOM. --share-name is the device, and --share-prefix is the prefix
            with which it shares. Removes the device's retained messages from the broker and prints their topics. Stop
            the device's sharing first, or it announces itself again.

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
        if removed.isEmpty { StandardError.line("the broker retains no message of '\(options.device)'") }
        var lines = LineOutput()
        for topic in removed { try lines.line("removed \(topic)") }
        try lines.flush()
    }
}
