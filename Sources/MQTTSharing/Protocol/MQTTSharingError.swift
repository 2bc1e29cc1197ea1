import CMosquitto
import Glibc
import IndoorVocabulary
import LocalizationSession

/// An error of position sharing over a broker.
public enum MQTTSharingError: Error, Hashable, Sendable {
    /// The address of a room is invalid.
    case badAddress(String, reason: String)
    /// A file with a password, a certificate or a key is unusable.
    case badFile(path: String, reason: String)
    /// The prefix isn't valid at the start of a topic.
    case badPrefix(String)
    /// A setting is out of range.
    case badSetting(name: String, value: String, range: String)
    /// The name of the host can't be resolved.
    case unknownHost(String)
    /// No broker is reachable at this host and port; `reason` is the system's.
    case unreachable(host: String, port: UInt16, reason: String)
    /// The server at this host and port didn't answer within the time limit.
    case noAnswer(host: String, port: UInt16, to: String)
    /// The broker requires a password for this user, and none was given.
    case missingPassword(host: String, user: String)
    /// The client would send the password without TLS, which isn't allowed.
    case plainPassword(host: String)
    /// The broker refused this user or password.
    case refusedCredentials(host: String, user: String?)
    /// The broker refused the connection for another reason.
    case refused(host: String, reason: String)
    /// The encrypted connection failed; `reason` is the TLS library's.
    case insecure(host: String, reason: String)
    /// The connection broke.
    case connectionLost(host: String, reason: String)
    /// Messages arrived faster than the device could process them.
    case overrun(host: String)
    /// The broker doesn't permit this user to read or write a topic.
    case forbidden(topic: String)
    /// The broker refused a message under this topic, as only brokers with MQTT 5 report.
    case refusedMessage(topic: String, reason: MQTTRefusal)
    /// The device isn't connected.
    case notConnected
    /// The device isn't in the room.
    case notInRoom(String)
    /// The device is in the largest possible number of rooms.
    case tooManyRooms
    /// The name of a room is invalid.
    case badRoom(SharingNameError)
    /// A text exceeds the limit, in bytes of UTF-8.
    case textTooLong(bytes: Int, longest: Int)
    /// A tag exceeds the limit, in bytes of UTF-8.
    case tagTooLong(bytes: Int, longest: Int)
    /// A position contains a number that isn't finite or is out of range.
    case badPosition(SharedPositionError)
    /// The room has reached its capacity.
    case roomFull(String, capacity: Int)
    /// The server has reached its capacity.
    case serverFull(capacity: Int)
    /// Another client keeps replacing or removing the presence of this device: a program with the same device ID, or
    /// an attacker.
    case deviceTaken(DeviceID)
    /// A message of a device doesn't have the signature that the list of trusted devices requires.
    case untrusted(DeviceID, reason: String)
    /// The broker sent a message that is larger than the limit of the connection, in bytes.
    case oversized(host: String, limit: Int)
    /// The broker doesn't accept a message of this size.
    case tooLargeForBroker(topic: String, bytes: Int)
    /// A malformed message arrived under a topic; `count` is the number of such messages so far.
    case malformed(topic: String, reason: String, count: Int)
    /// A function of libmosquitto failed.
    case library(function: String, reason: String)
}

extension MQTTSharingError: CustomStringConvertible {
    /// A sentence that describes the error and a remedy.
    public var description: String {
        switch self {
        case .badAddress(let text, let reason):
            "'\(AddressText.withoutSecrets(text))' is not a valid address: \(reason)"
        case .badFile(let path, let reason): "\(path): \(reason)"
        case .badPrefix(let prefix):
            "'\(prefix)' is not a valid topic prefix: give names of at most 64 characters, separated by /, "
                + "without + and #"
        case .badSetting(let name, let value, let range): "the setting '\(name)' is \(value): give \(range)"
        case .unknownHost(let host): "the host '\(host)' is unknown: correct the name, or give its address"
        case .unreachable(let host, let port, let reason):
            "no broker is reachable at \(host):\(port) (\(reason)): check that the broker runs, and that it listens on "
                + "this port and network"
        case .noAnswer(let host, let port, let request):
            "the broker at \(host):\(port) did not answer \(request) within the time limit: check host and port; TLS "
                + "needs the broker's TLS port"
        case .missingPassword(let host, let user):
            "the broker at \(host) requires a password for '\(user)': \(Self.passwordPlaces)"
        case .plainPassword(let host):
            "the password would be sent to \(host) unencrypted, and others could read it: use mqtts, or allow it "
                + "(allowsPlainPassword, --share-plain-password, "
                + "--broker-plain-password)"
        case .refusedCredentials(let host, let user?):
            "the broker at \(host) refused '\(user)' with this password: correct the user and the password"
        case .refusedCredentials(let host, nil):
            "the broker at \(host) refuses anonymous clients: give a user, and \(Self.passwordPlaces)"
        case .refused(let host, let reason):
            "the broker at \(host) refused the connection: \(reason); see the broker's log"
        case .insecure(let host, let reason):
            "the secure connection to \(host) failed: \(reason); the port must use TLS, and the broker's certificate "
                + "must be valid now, issued for this host, and signed by an authority of the CA file"
        case .connectionLost(let host, let reason):
            "the connection to the broker at \(host) was lost: \(reason); check that the broker runs, and see its log"
        case .overrun(let host):
            "the broker at \(host) sends messages faster than this device can process them: use fewer devices in a "
                + "room, or a longer interval (--share-interval)"
        case .forbidden(let topic):
            "the broker does not permit this user to read and write '\(topic)': allow both in its access list, which "
                + "may require the device ID to equal the user name"
        case .refusedMessage(let topic, let reason):
            "the broker refused the message under '\(topic)', \(reason.explanation)"
        case .notConnected:
            "the device is not connected to the broker: connect first, or wait for the event 'connected'"
        case .notInRoom(let room): "the device is not in the room '\(room)': join it first"
        case .tooManyRooms: "a device can be in at most \(SharingPayload.mostRooms) rooms: leave one first"
        case .badRoom(let error): "\(error)"
        case .textTooLong(let bytes, let longest):
            "the text has \(bytes) bytes: send at most \(longest), the rest as another text"
        case .tagTooLong(let bytes, let longest): "the tag has \(bytes) bytes: give one of at most \(longest)"
        case .badPosition(let error): "the position is not shared: \(error)"
        case .roomFull(let room, let capacity):
            "the room '\(room)' is limited to \(Self.devices(capacity)): wait until one leaves, or raise "
                + "'roomCapacity' in the settings (--share-room-capacity) or in the broker's topic 'limits'"
        case .serverFull(let capacity):
            "the server is limited to \(Self.devices(capacity)): wait until one leaves, or raise 'serverCapacity' in "
                + "the settings (--share-server-capacity) or in the broker's topic 'limits'"
        case .deviceTaken(let device):
            "another client keeps replacing the presence of '\(device)', and this program restores it: give each device "
                + "its own ID, and let only the device write its topics (access list of the broker)"
        case .untrusted(let device, let reason):
            "messages of '\(device)' are ignored: \(reason); another client may pretend to be the device, or the list of "
                + "trusted devices needs its present key (--share-trust)"
        case .oversized(let host, let limit):
            "the broker at \(host) sent a message of more than \(limit) bytes: find out who publishes it, and limit the "
                + "size on the broker (message_size_limit)"
        case .tooLargeForBroker(let topic, let bytes):
            "the broker accepts no message of \(bytes) bytes under '\(topic)': raise its limit (max_packet_size), or send "
                + "less at once"
        case .malformed(let topic, let reason, let count):
            "a malformed message under '\(topic)' was ignored: \(reason) (\(count) such messages so far)"
        case .library(let function, let reason):
            "libmosquitto's \(function) failed: \(reason); check that user, topics and texts are UTF-8 without control "
                + "characters, and that the system has free memory"
        }
    }

    private static let passwordPlaces =
        "give the password in a file (--share-password-file, --broker-password-file) or in $\(MQTTCredentials.environmentVariable)"

    private static func devices(_ count: Int) -> String { count == 1 ? "1 device" : "\(count) devices" }
}

extension LocalizationError {
    /// Creates the error that a session reports for a sharing error. The session continues without the connection.
    package init(_ error: MQTTSharingError) {
        let code: Code =
            switch error {
            case .unknownHost, .unreachable, .noAnswer, .refused, .insecure, .connectionLost, .overrun, .oversized:
                .network
            default: .generic
            }
        self.init(code: code, message: error.description, kind: error.kind)
    }
}

extension MQTTSharingError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .badAddress, .badRoom, .textTooLong, .tagTooLong, .badPosition, .notInRoom, .tooManyRooms, .deviceTaken,
            .tooLargeForBroker:
            .badRequest
        case .badPrefix, .badSetting: .settings
        case .badFile: .storage
        case .unknownHost, .unreachable, .connectionLost, .notConnected: .noNetwork
        case .noAnswer: .timedOut
        case .missingPassword, .plainPassword, .refusedCredentials: .invalidCredentials
        case .refused, .overrun, .roomFull, .serverFull: .serviceUnavailable
        case .insecure, .untrusted: .untrusted
        case .forbidden, .refusedMessage(_, reason: .notAuthorized): .permissionDenied
        case .refusedMessage: .serviceUnavailable
        case .malformed, .oversized: .badResponse
        case .library: .unknown
        }
    }
}

extension MQTTSharingError {
    /// Returns the system's description of an error number.
    static func text(ofSystemError number: Int32) -> String {
        // Without a number, its text would be "Success".
        guard number != 0, let text = strerror(number) else { return "the system reported no reason" }
        return String(cString: text)
    }
}

/// The broker's reason for refusing a message.
public enum MQTTRefusal: Hashable, Sendable {
    /// The user may not write the topic.
    case notAuthorized
    /// The broker's limits for this client are reached.
    case quotaExceeded
    /// Any other reason, in the words of the standard.
    case other(String)

    /// Creates the reason of a code from 128. Source: *MQTT Version 5.0*, OASIS 2019, table 3-4.
    init(code: Int32) {
        switch UInt32(bitPattern: code) {
        case UInt32(MQTT_RC_NOT_AUTHORIZED.rawValue): self = .notAuthorized
        case UInt32(MQTT_RC_QUOTA_EXCEEDED.rawValue): self = .quotaExceeded
        default: self = .other(String(cString: mosquitto_reason_string(code)))
        }
    }

    /// The reason and the remedy.
    var explanation: String {
        switch self {
        case .notAuthorized: "not authorized: allow this user to write the topic in the broker's access list"
        case .quotaExceeded: "quota exceeded: raise the broker's limits for this client, or publish less often"
        case .other(let reason): "\(reason): see the broker's log"
        }
    }
}

/// The refusals of a connection that were reported: one for each pair of a reason and a first topic level, because a
/// broker that refuses the topic of one tag refuses the topics of all tags.
package struct ReportedRefusals: Sendable {
    private var reported: Set<String> = []

    /// Creates an empty list.
    package init() {}

    /// Returns whether a refusal is to be reported, and adds it.
    package mutating func isNew(_ topic: String, _ reason: MQTTRefusal) -> Bool {
        let level = topic.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        return reported.insert("\(reason.explanation) \(level)").inserted
    }
}
