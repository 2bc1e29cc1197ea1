/// The adapter's answer to a command.
package struct HCIAnswer: Hashable, Sendable {
    /// The command that the adapter answered.
    package var opcode: UInt16
    /// 0 for success, else an error code of the specification (Vol 1, Part F).
    package var status: UInt8
    /// The bytes after the status.
    package var parameters: [UInt8]

    /// Creates an answer from its parts.
    package init(opcode: UInt16, status: UInt8, parameters: [UInt8] = []) {
        self.opcode = opcode
        self.status = status
        self.parameters = parameters
    }

    /// Error codes that a scan must distinguish.
    package enum Status {
        package static let success: UInt8 = 0x00
        package static let unknownCommand: UInt8 = 0x01
        package static let disallowed: UInt8 = 0x0C
    }
}
