import MQTTSharing

/// Has Home Assistant forget a device.
struct ShareForgetCommand: Command {
    static let syntax = CommandSyntax(
        name: "share forget", operands: "ADDRESS", operandCount: 1...1,
        summary: "remove a device that '--home-assistant' had Home Assistant show",
        details: """
            ADDRESS is mqtt[s]://[USER@]HOST[:PORT]/ROOM, and --share-name the device. What still shares under that
            name ends, as two devices cannot be called the same.

            example: indoorloc share forget --share-name forklift-7 mqtt://broker.example.org/warehouse
            """,
        options: SharingOptions.brokerOptions)

    private let options: SharingOptions

    init(_ arguments: ParsedArguments) throws {
        options = try SharingOptions(address: arguments.operands[0], what: "ADDRESS", arguments)
    }

    func run() async throws {
        var options = options
        options.tellsHomeAssistant = true
        let sharing = try options.sharing()
        try await sharing.connect()
        await sharing.withdrawFromHomeAssistant()
        await sharing.disconnect()
    }
}
