import IndoorVocabulary
import LocalizationSession

/// Why positions cannot be shared over a broker.
public enum MQTTSharingError: Error, Hashable, Sendable {
    /// A text names no room on a broker.
    case badAddress(String, reason: String)
    /// A file with a password, a certificate or a key is of no use.
    case badFile(path: String, reason: String)
    /// The topics' prefix cannot begin a topic.
    case badPrefix(String)
    /// A number of the settings is out of its range.
    case badSetting(name: String, value: String, range: String)
    /// Nobody knows an address of that name.
    case unknownHost(String)
    /// Nothing listens there, or the way to it is barred; with what the system says.
    case unreachable(host: String, port: UInt16, reason: String)
    /// The broker, or what is there, did not answer in time.
    case noAnswer(host: String, port: UInt16, to: String)
    /// The broker does not let this user in without a password, and none was given.
    case missingPassword(host: String, user: String)
    /// The password would be sent without TLS, and nobody has allowed that.
    case plainPassword(host: String)
    /// The broker does not let this user in, with this password.
    case refusedCredentials(host: String, user: String?)
    /// The broker refuses the connection for another reason.
    case refused(host: String, reason: String)
    /// No encrypted connection could be made; with what the TLS library says.
    case insecure(host: String, reason: String)
    /// The connection broke.
    case connectionLost(host: String, reason: String)
    /// What came could not be taken in as fast as it came.
    case overrun(host: String)
    /// The broker does not let this user read or write a topic.
    case forbidden(topic: String)
    /// There is no connection now.
    case notConnected
    /// The device is not in the room.
    case notInRoom(String)
    /// The device is in as many rooms as it can be in.
    case tooManyRooms
    /// A name of a room is none.
    case badRoom(SharingNameError)
    /// A text is longer than others would take, in bytes of UTF-8.
    case textTooLong(bytes: Int, longest: Int)
    /// A tag is longer than others would take, in bytes of UTF-8.
    case tagTooLong(bytes: Int, longest: Int)
    /// A position has a number that is none, or out of range.
    case badPosition(SharedPositionError)
    /// The room takes no more devices.
    case roomFull(String, capacity: Int)
    /// The server takes no more devices.
    case serverFull(capacity: Int)
    /// Another program has come with the same device ID.
    case deviceTaken(DeviceID)
    /// Something came under a topic that nobody could make sense of; so many such messages came by now.
    case malformed(topic: String, reason: String, count: Int)
    /// A function of libmosquitto failed.
    case library(function: String, reason: String)
}

extension MQTTSharingError: CustomStringConvertible {
    /// What was wrong, and what to do about it.
    public var description: String {
        switch self {
        case .badAddress(let text, let reason): "'\(text)' is no address of a room: \(reason)"
        case .badFile(let path, let reason): "\(path): \(reason)"
        case .badPrefix(let prefix):
            "'\(prefix)' cannot begin a topic: give names of at most 64 characters with / between them, "
                + "without + and #"
        case .badSetting(let name, let value, let range): "the setting '\(name)' is \(value): give \(range)"
        case .unknownHost(let host): "no address of the host '\(host)' is known: correct the name, or give its address"
        case .unreachable(let host, let port, let reason):
            "no broker can be reached at \(host):\(port) (\(reason)): see whether it runs, listens to the network, and on "
                + "that port"
        case .noAnswer(let host, let port, let question):
            "the broker at \(host):\(port) has not answered in time (\(question)): see whether host and port are the "
                + "broker's, and the port is that for TLS where TLS is used"
        case .missingPassword(let host, let user):
            "the broker at \(host) does not let in '\(user)' without a password: \(Self.passwordPlaces)"
        case .plainPassword(let host):
            "the password would be sent to \(host) unencrypted, where others can read it: use mqtts, or allow it "
                + "(allowsPlainPassword, --share-plain-password)"
        case .refusedCredentials(let host, let user?):
            "the broker at \(host) does not let in '\(user)' with this password: correct the user and the password"
        case .refusedCredentials(let host, nil):
            "the broker at \(host) does not let in anybody without a name: name the user, and \(Self.passwordPlaces)"
        case .refused(let host, let reason):
            "the broker at \(host) refuses the connection: \(reason); see the broker's log"
        case .insecure(let host, let reason):
            "no secure connection to \(host): \(reason); the port must be one with TLS, and the broker's certificate "
                + "valid at this machine's time, for that host and signed by an authority of the CA file"
        case .connectionLost(let host, let reason):
            "the connection to the broker at \(host) is lost: \(reason); see whether the broker runs, and its log"
        case .overrun(let host):
            "the broker at \(host) sends more than can be taken in: have fewer devices in a room, or a longer interval "
                + "(--share-interval)"
        case .forbidden(let topic):
            "the broker does not let this user read and write '\(topic)': allow both in its access list, which may want "
                + "the device to be called as the user"
        case .notConnected: "there is no connection to the broker: connect first, or wait for the event 'connected'"
        case .notInRoom(let room): "the device is not in the room '\(room)': join it first"
        case .tooManyRooms: "a device is in at most \(SharingPayload.mostRooms) rooms: leave one first"
        case .badRoom(let error): "\(error)"
        case .textTooLong(let bytes, let longest):
            "the text has \(bytes) bytes: send at most \(longest), the rest as another text"
        case .tagTooLong(let bytes, let longest): "the tag has \(bytes) bytes: give one of at most \(longest)"
        case .badPosition(let error): "the position is not shared: \(error)"
        case .roomFull(let room, let capacity):
            "the room '\(room)' takes no more than \(Self.devices(capacity)): wait until one leaves, or raise "
                + "'roomCapacity', that of the settings (--share-room-capacity) or of the broker's topic 'limits'"
        case .serverFull(let capacity):
            "the server takes no more than \(Self.devices(capacity)): wait until one leaves, or raise "
                + "'serverCapacity', that of the settings (--share-server-capacity) or of the broker's topic 'limits'"
        case .deviceTaken(let device):
            "another program shares as '\(device)', so this one does no more: give each device an ID of its own"
        case .malformed(let topic, let reason, let count):
            "what came under '\(topic)' is passed over: \(reason) (\(count) such messages by now)"
        case .library(let function, let reason):
            "libmosquitto's \(function) failed: \(reason); see whether user, topics and texts are UTF-8 without control "
                + "characters, and the system has memory left"
        }
    }

    private static let passwordPlaces =
        "give the password in a file (--share-password-file) or in $\(MQTTCredentials.environmentVariable)"

    private static func devices(_ count: Int) -> String { count == 1 ? "1 device" : "\(count) devices" }
}

extension LocalizationError {
    /// What an error of sharing means for a session: it goes on, whatever becomes of the connection.
    package init(_ error: MQTTSharingError) {
        let code: Code =
            switch error {
            case .unknownHost, .unreachable, .noAnswer, .refused, .insecure, .connectionLost, .overrun: .network
            default: .generic
            }
        self.init(code: code, message: error.description, kind: error.kind)
    }
}

extension MQTTSharingError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .badAddress, .badRoom, .textTooLong, .tagTooLong, .badPosition, .notInRoom, .tooManyRooms, .deviceTaken:
            .badRequest
        case .badPrefix, .badSetting: .settings
        case .badFile: .storage
        case .unknownHost, .unreachable, .connectionLost, .notConnected: .noNetwork
        case .noAnswer: .timedOut
        case .missingPassword, .plainPassword, .refusedCredentials: .invalidCredentials
        case .refused, .overrun, .roomFull, .serverFull: .serviceUnavailable
        case .insecure: .untrusted
        case .forbidden: .permissionDenied
        case .malformed: .badResponse
        case .library: .unknown
        }
    }
}
