/// A message on a D-Bus message bus.
///
/// Source: D-Bus Specification 0.42, Message Protocol.
package struct BusMessage: Hashable, Sendable {
    /// The type of a message.
    package enum Kind: Hashable, Sendable {
        case methodCall
        case methodReturn
        case error
        case signal
    }

    package var kind: Kind
    /// The sender's serial number of the message; 0 lets the bus library choose one.
    package var serial: UInt32 = 0
    /// The serial number of the call that this message answers; 0 if it answers none.
    package var replySerial: UInt32 = 0
    /// The bus name of the sender.
    package var sender: String?
    package var destination: String?
    package var path: String?
    package var interface: String?
    package var member: String?
    package var errorName: String?
    /// Whether the caller expects an answer.
    package var expectsReply = false
    package var body: [BusValue] = []

    package init(kind: Kind) { self.kind = kind }

    /// Returns a call of an object's method that expects an answer.
    package static func call(
        _ member: String, of interface: String, on path: String, at destination: String, serial: UInt32,
        _ body: [BusValue] = []
    ) -> BusMessage {
        var message = BusMessage(kind: .methodCall)
        message.serial = serial
        message.destination = destination
        message.path = path
        message.interface = interface
        message.member = member
        message.expectsReply = true
        message.body = body
        return message
    }

    /// Returns the answer to this call.
    package func reply(_ body: [BusValue] = []) -> BusMessage {
        var message = BusMessage(kind: .methodReturn)
        message.destination = sender
        message.replySerial = serial
        message.body = body
        return message
    }

    /// Returns an error answer to this call.
    package func refusal(_ errorName: String, _ text: String) -> BusMessage {
        var message = reply([.string(text)])
        message.kind = .error
        message.errorName = errorName
        return message
    }

    /// The error's text, if it has one, and its name.
    package var errorText: String {
        let name = errorName ?? "an error without a name"
        guard let text = body.first?.text, !text.isEmpty else { return name }
        return "\(text) (\(name))"
    }
}
