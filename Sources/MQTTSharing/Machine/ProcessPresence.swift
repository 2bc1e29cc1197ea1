import IndoorVocabulary

/// The presence of a process under a name: a retained status, `online` until the process ends or loses its connection,
/// then `offline`.
///
/// A broker that doesn't notice the end of a connection publishes the will of that connection minutes later, when the
/// process is connected again. Therefore all connections of a process have one client ID, so that the broker ends the
/// earlier one at once, and the process restates its status when another one appears.
///
/// Only one process may have the name. A process asks for it over a topic that is not retained. The process that has the
/// name answers, and the other one leaves. A process that has ended or hangs doesn't answer. The broker delivers the
/// questions to all processes in one order, so that of several processes that ask at the same time, the first gets the
/// name.
package struct ProcessPresence: Hashable, Sendable {
    /// The relation of the process to the name.
    package enum Standing: Hashable, Sendable {
        /// There is no connection.
        case disconnected
        /// The process asks whether another one has the name.
        case asking
        /// The process has the name.
        case present
        /// Another process has the name.
        case refused
    }

    /// The time that a process waits for the answer of another one.
    package static let patience = Duration.seconds(1)
    /// The retained status of a process that is connected.
    private static let online = Array("online".utf8)
    private static let question = "asks "
    private static let answer = "holds "

    /// The topic of the status.
    package let statusTopic: String
    /// The topic of questions and answers.
    package let nameTopic: String
    /// The client ID of all connections: at most 23 letters and digits, which every broker accepts.
    package let clientID: String
    /// The relation to the name.
    package private(set) var standing = Standing.disconnected
    private var isElder = false

    /// Creates a process without a connection.
    ///
    /// - Parameters:
    ///   - topic: The topic of the process, without a slash at its end.
    ///   - status: The last level of the topic of the status.
    ///   - number: A random number, different for each process.
    package init(topic: String, status: String, number: UInt64 = .random(in: .min ... .max)) {
        statusTopic = "\(topic)/\(status)"
        nameTopic = "\(topic)/process"
        clientID = "indoor" + String(number, radix: 16)
    }

    /// The will of each connection, and the last message of a process that ends.
    package var offline: MQTTMessage { status(Array("offline".utf8)) }

    /// The status of a process that is connected.
    package var restatement: MQTTMessage { status(Self.online) }

    /// Begins to ask for the name, because the broker has accepted a connection.
    ///
    /// After ``patience``, call ``decide()``.
    package mutating func accepted() -> [MQTTLink.Operation] {
        standing = .asking
        isElder = false
        return [
            .subscribe(nameTopic, .atLeastOnce), .subscribe(statusTopic, .atLeastOnce),
            .publish(say(Self.question)),
        ]
    }

    /// Takes the name if no process has answered.
    package mutating func decide() -> [MQTTLink.Operation] {
        guard standing == .asking else { return [] }
        standing = .present
        return [.publish(say(Self.answer)), .publish(restatement)]
    }

    /// Handles a message of the broker; messages under other topics are ignored.
    package mutating func receive(_ message: MQTTMessage) -> [MQTTLink.Operation] {
        // A retained message is older than the connection.
        guard !message.isRetained else { return [] }
        switch message.topic {
        case statusTopic:
            return standing == .present && message.payload != Self.online ? [.publish(restatement)] : []
        case nameTopic: return receiveWord(String(decoding: message.payload, as: UTF8.self))
        default: return []
        }
    }

    /// Records the end of the connection.
    package mutating func disconnected() {
        if standing != .refused { standing = .disconnected }
    }

    private mutating func receiveWord(_ text: String) -> [MQTTLink.Operation] {
        if text == Self.question + clientID {
            if standing == .asking { isElder = true }
        } else if text.hasPrefix(Self.question) {
            if standing == .present || isElder { return [.publish(say(Self.answer))] }
        } else if text.hasPrefix(Self.answer), text != Self.answer + clientID {
            // If two processes have the name, they got it in separate parts of an interrupted network. The process with
            // the greater ID keeps the name.
            let keeps = standing == .present && text < Self.answer + clientID
            guard !keeps else { return [.publish(say(Self.answer))] }
            if standing == .asking || standing == .present { standing = .refused }
        }
        return []
    }

    private func say(_ word: String) -> MQTTMessage {
        MQTTMessage(topic: nameTopic, payload: Array((word + clientID).utf8))
    }

    private func status(_ payload: [UInt8]) -> MQTTMessage {
        MQTTMessage(topic: statusTopic, payload: payload, isRetained: true)
    }
}

/// The error of a process that can't have its name.
package struct ProcessNameTaken: Error, Hashable, Sendable, CustomStringConvertible {
    /// The topic of the status.
    package let topic: String
    /// The host of the broker.
    package let host: String
    /// The action that resolves the error, for the user.
    package let remedy: String

    /// Creates an error.
    package init(topic: String, host: String, remedy: String) {
        (self.topic, self.host, self.remedy) = (topic, host, remedy)
    }

    package var description: String {
        "another process is connected to the broker at \(host) under '\(topic)': \(remedy)"
    }
}
