// Treats any bytes as messages of a broker to a device that shares its position: decoding must not trap, what the device
// reports must be valid, and only a trusted device's signature makes a message trusted.
//
// The first byte selects the trust in other devices. Each message is a line with the topic below the prefix, and a line
// with the payload. A topic that begins with `!` is signed with the trusted device's key, because a changed payload never
// has a valid signature by chance.
import IndoorVocabulary
import LocalizationSession
@testable import MQTTSharing

func fuzzSharing(_ input: [UInt8]) throws(Finding) {
    guard let first = input.first, let key, let own, let other else { return }
    var settings = MQTTSharingSettings()
    if first & 1 == 1 {
        settings.trust = SharingTrust([other: key.publicKey], policy: first & 2 == 0 ? .prefer : .require)
    }
    var stage = Stage(settings: settings, own: own)
    try stage.connect()
    let lines = input.dropFirst().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for index in stride(from: 0, to: lines.count - 1, by: 2) {
        var topic = String(decoding: lines[index], as: UTF8.self)
        var payload = Array(lines[index + 1])
        // A device signs only JSON objects.
        let isSigned = topic.hasPrefix("!") && payload.first == UInt8(ascii: "{") && payload.count > 1
        if isSigned {
            topic = "indoorloc/v1/" + topic.dropFirst()
            payload = SignedPayload.sign(payload, topic: topic, with: key)
            guard SignedPayload.verify(payload, topic: topic, by: key.publicKey) == .valid || payload.count > 16_384
            else {
                throw Finding("a signature does not verify")
            }
        } else {
            topic = "indoorloc/v1/" + topic
            // No bytes of the input have the signature of the key.
            if SignedPayload.verify(payload, topic: topic, by: key.publicKey) == .valid {
                throw Finding("a signature verifies that is not the key's")
            }
        }
        try stage.receive(MQTTMessage(topic: topic, payload: payload, isRetained: index & 4 == 4), isSigned: isSigned)
    }
}

private let own = DeviceID(rawValue: "cart")
private let other = DeviceID(rawValue: "ana")
private let key: SharingSigningKey? = SharingSigningKey.generate()

/// A device with a simulated broker.
private struct Stage {
    var machine: SharingMachine
    let settings: MQTTSharingSettings
    let own: DeviceID
    var session = ""
    /// The filters that the device has asked for.
    var filters: [String] = []
    // The numbers of signed messages are microseconds since 1970.
    var now = SharingMachine.Moment(instant: Instant(seconds: 1000), date: 1_800_000_000)

    init(settings: MQTTSharingSettings, own: DeviceID) {
        (self.settings, self.own) = (settings, own)
        machine = SharingMachine(MQTTBroker(host: "broker"), device: own, name: nil, settings: settings, seed: 1)
    }

    mutating func connect() throws(Finding) {
        try handle(.connect(1))
        try handle(.link(.accepted))
        for filter in filters { try handle(.link(.subscribed(filter: filter, isGranted: true))) }
        try echo([])
        try handle(.join("atrium", 2))
        try handle(.link(.subscribed(filter: machine.topics.filter(ofRoom: "atrium"), isGranted: true)))
        try echo(["atrium"])
        guard machine.isIn("atrium") else { throw Finding("the device does not enter the room") }
    }

    /// Delivers this device's own presence.
    mutating func echo(_ rooms: [String]) throws(Finding) {
        let presence = SharingPayload.Presence(
            device: own.rawValue, name: nil, session: session, rooms: rooms, sentAt: 0)
        let topic = machine.topics.name(.presence(own))
        try handle(.link(.received(MQTTMessage(topic: topic, payload: SharingPayload.bytes(presence)))))
    }

    mutating func receive(_ message: MQTTMessage, isSigned: Bool) throws(Finding) {
        try handle(.link(.received(message)), isSigned: isSigned)
        now.instant = now.instant.advanced(by: .milliseconds(300))
        now.date += 0.3
        if let wake = machine.nextWake, wake <= now.instant { try handle(.tick) }
    }

    mutating func handle(_ event: SharingMachine.Event, isSigned: Bool = false) throws(Finding) {
        for directive in machine.handle(event, at: now) {
            switch directive {
            case .open(let session): self.session = session
            case .subscribe(let filter, _): filters.append(filter)
            case .emit(.position(let position)):
                guard position.problem == nil else { throw Finding("\(position) does not satisfy its rules") }
                try check(position.device, isSigned)
            case .emit(.message(let message)):
                guard message.text.utf8.count <= MQTTSharingSettings.longestText else {
                    throw Finding("\(message) does not obey the limits")
                }
                try check(message.device, isSigned)
            default: break
            }
        }
    }

    /// Checks that a message of a device was permitted.
    func check(_ device: DeviceID, _ isSigned: Bool) throws(Finding) {
        guard let trust = settings.trust else { return }
        guard isSigned || (trust.keys[device] == nil && trust.policy == .prefer) else {
            throw Finding("a message of \(device) does not have the required signature")
        }
    }
}
