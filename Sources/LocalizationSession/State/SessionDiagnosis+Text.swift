import BeaconScanning
import IndoorVocabulary
import VenueModel

extension SessionDiagnosis: CustomStringConvertible {
    /// The reason in words: one or two sentences, usable on a page and as a status line.
    public var description: String {
        let clause = clause
        guard let first = clause.first, let last = clause.last else { return "" }
        // The message of an error may end a sentence itself.
        return first.uppercased() + clause.dropFirst() + (".?!".contains(last) ? "" : ".")
    }

    /// The reason in words without a capital letter and a full stop, to follow "no position, as".
    package var clause: String {
        switch reason {
        case .located: "positions are available"
        case .outdoors: "the device is outdoors; satellite positions are available, and no beacon is received"
        case .searching: "the session searches for a venue"
        case .notRunning: "no session is running"
        case .failed: "the session ended with an error: \(errorText)"
        case .loadingCatalogue: "the list of venues is being fetched"
        case .catalogueFailed: "the list of venues could not be fetched: \(errorText)\(retry)"
        case .noUsableVenue: noVenueClause
        case .radioFailed: "the radio cannot receive: \(radio.map { "\($0)" } ?? errorText)\(retry)"
        case .radioResting: "the radio rests until its next pass"
        case .noReadings: "no reading arrived\(time)"
        case .noBeacons: "no beacon \(place)was received\(time)" + (receivesOtherDevices == true ? otherDevices : "")
        case .unknownBeacons: unknownClause
        case .unknownAnchors: anchorClause
        case .weakBeacons: weakClause
        case .otherVenue:
            "the setting forcedVenue accepts only \(name(forcedVenue)), but the received beacons belong to "
                + names(receivedVenues)
        case .undecidedVenue: undecidedClause
        case .downloadingPacket: "the session is downloading the packet of \(name(state.venueID)): \(progress) %"
        case .packetFailed: "the packet of \(name(state.venueID)) could not be fetched: \(errorText)\(retry)"
        case .preparingVenue: "the positioning in \(name(state.venueID)) is being prepared"
        case .undecidedFloor: floorClause
        case .silentBeacons:
            "no beacon of \(name(state.venueID)) was received\(time)"
                + (isRunning ? "; the latest positions are predictions" : "")
        case .contradictoryBeacons:
            "the received beacons \(place)contradict each other, so that the position is uncertain"
        }
    }

    /// The clause with the help, as in "no beacon was received; check that beacons are near"; the clause alone without
    /// help.
    package var clauseWithHelp: String {
        guard let help, let first = help.first else { return clause }
        return "\(clause); \(first.lowercased())\(help.dropFirst().dropLast())"
    }

    private var otherDevices: String { ", but other Bluetooth devices were" }

    private var noVenueClause: String {
        if let forcedVenue { return "\(name(forcedVenue)) of the setting forcedVenue is not among the known venues" }
        switch knownVenues {
        case 0?: return "there is no known venue"
        case 1?: return "\(venueName.map { "'\($0)'" } ?? "the venue") has neither beacons nor a radio map"
        default: return "no known venue has beacons or a radio map"
        }
    }

    private var unknownClause: String {
        let count = unknownBeacons.count
        let shown = unknownBeacons.prefix(3).map(\.description).joined(separator: ", ")
        let list = count > 3 ? "\(shown) and \(count - 3) more" : shown
        let owner = venueName.map { "'\($0)'" } ?? "a known venue"
        return count == 1
            ? "1 beacon was received, which does not belong to \(owner): \(list)"
            : "\(count) beacons were received, of which none belongs to \(owner): \(list)"
    }

    private var anchorClause: String {
        let count = unknownAnchors.count
        let names = unknownAnchors.prefix(3).map { "\"\($0)\"" }.joined(separator: ", ")
        let list = count > 3 ? "\(names) and \(count - 3) more" : names
        let owner = venueName.map { "'\($0)'" } ?? "a known venue"
        return count == 1
            ? "distances to 1 anchor were measured, which does not belong to \(owner): \(list)"
            : "distances to \(count) anchors were measured, of which none belongs to \(owner): \(list)"
    }

    private var weakClause: String {
        let numbers = [rssiThreshold, strongestRSSI].map { $0.map { "\(Int($0.rounded())) dBm" } ?? "unknown" }
        return "all received beacons of \(names(receivedVenues)) are below the rssiThreshold of \(numbers[0]); "
            + "the strongest is \(numbers[1])"
    }

    private var undecidedClause: String {
        receivedVenues.count > 1
            ? "the radio receives beacons of \(names(receivedVenues)), and none of these venues is clearly stronger"
            : "the radio receives beacons of \(names(receivedVenues)), but they are not enough to choose the venue"
    }

    private var floorClause: String {
        guard !floors.isEmpty else { return "the floor is unknown, as the readings so far give no position" }
        let list = floors.prefix(4).map { "\($0.name) \(Int(($0.probability * 100).rounded())) %" }
        return "the floor is undecided: " + list.joined(separator: ", ")
    }

    /// Advice for the user; nil if the session needs no help, or if nothing helps.
    public var help: String? {
        switch reason {
        case .located, .outdoors, .searching, .loadingCatalogue, .downloadingPacket, .preparingVenue: nil
        case .notRunning: "Start a session."
        case .failed: "Resolve the cause, then start a session again."
        case .catalogueFailed, .packetFailed: "Check the network, and the address and the files of the venue source."
        case .noUsableVenue:
            forcedVenue == nil
                ? "Add beacons to the packet, or make a survey." : "Add the packet of the venue, or change the setting."
        case .radioFailed: radioHelp
        case .radioResting: "Use a duty cycle with shorter rests, or a higher desired accuracy."
        case .noReadings:
            "Check that beacons are near, and that the source delivers: the adapter, the permissions and the scan."
        case .noBeacons:
            "Check that beacons are near and powered, and that they send a format that the package decodes."
        case .unknownBeacons:
            "Correct the names of the beacons in the packet, or add the packet of the venue that has these beacons."
        case .unknownAnchors:
            "Correct the ids of the anchors in the packet, or add the packet of the venue that has these anchors."
        case .weakBeacons: "Lower rssiThreshold, or move closer to a beacon."
        case .otherVenue: "Remove the setting forcedVenue, or set it to a venue that is received."
        case .undecidedVenue:
            receivedVenues.count > 1
                ? "Move away from the border between the venues, or set forcedVenue."
                : "Move closer to the beacons, and check the coordinate and the radius of the venue."
        case .undecidedFloor: "Move closer to a beacon, and check the floors of the beacons in the packet."
        case .silentBeacons: "Move closer to a beacon, and check that the beacons here are powered."
        case .contradictoryBeacons:
            "Check the places of the beacons here in the packet, and look for a transmitter that sends their identities."
        }
    }

    private var radioHelp: String {
        switch radio?.status {
        case .poweredOff: "Power the adapter on, for example with 'bluetoothctl power on'."
        case .blocked: "Unblock the adapter with the radio switch, or with 'rfkill unblock bluetooth'."
        case .unplugged: "Plug the adapter in."
        case .serviceLost: "Start the Bluetooth service, for example with 'systemctl start bluetooth'."
        case .refused: "Stop other programs that scan, or restart the Bluetooth service."
        case .scanning, .sharing, .resting, nil: "Check the adapter and the permissions of the process."
        }
    }

    private var errorText: String { error?.message ?? "unknown error" }
    private var retry: String { retryAfter.map { "; the next attempt is in \(Self.seconds($0))" } ?? "" }
    private var time: String { duration.map { " for \(Self.seconds($0))" } ?? "" }
    private var place: String { venueName.map { "of '\($0)' " } ?? "" }

    private var progress: Int {
        if case .getPacket(_, let progress) = state { Int(progress * 100) } else { 0 }
    }

    private var isRunning: Bool {
        if case .localizationRunning = state { true } else { false }
    }

    private func name(_ venue: VenueID?) -> String {
        if let venueName, venue == state.venueID { return "'\(venueName)'" }
        return venue.map { "venue \($0)" } ?? "the venue"
    }

    private func names(_ venues: [VenueID]) -> String {
        if let venueName, venues.count == 1, knownVenues == 1 { return "'\(venueName)'" }
        let texts = venues.map(\.description)
        guard let last = texts.last, texts.count > 1 else { return "venue \(texts.first ?? "unknown")" }
        return "venues \(texts.dropLast().joined(separator: ", ")) and \(last)"
    }

    private static func seconds(_ duration: Duration) -> String { "\(Int(duration.seconds.rounded())) s" }
}
