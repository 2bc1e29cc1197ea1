import IndoorLocalization

extension SessionReplay.Output {
    /// The output as one line of JSON.
    var json: String {
        var json = JSONText()
        json.add("t", instant.seconds, decimals: 3)
        switch content {
        case .state(let state): state.write(to: &json)
        case .position(let position): position.write(to: &json)
        case .outdoorPosition(let position): position.write(to: &json)
        case .motion(let estimate): estimate.write(to: &json)
        case .event(let event): event.write(to: &json)
        case .interaction(let event): event.write(to: &json)
        case .downloadedVenue(let venue):
            json.add("type", "downloadedVenue")
            json.add("venueId", venue.id.rawValue)
            json.add("name", venue.name)
        case .error(let error):
            json.add("type", "error")
            error.write(to: &json)
            json.add("message", error.message)
            json.add("cause", error.cause)
            switch error.reason {
            case .beaconFault(let fault): json.add("fault", fault.json)
            case .uncalibratedBeacons(let beacons): json.add("beacons", beacons.map(\.description))
            case .unknownBeacons, .instantsStandStill, nil: break
            }
        case .diagnosis(let diagnosis): diagnosis.write(to: &json)
        }
        return json.text
    }
}

extension SessionDiagnosis {
    fileprivate func write(to json: inout JSONText) {
        json.add("type", "diagnosis")
        json.add("reason", reason.rawValue)
        json.add("text", description)
        json.add("help", help)
        if !unknownBeacons.isEmpty { json.add("beacons", unknownBeacons.map(\.description)) }
        if !unknownAnchors.isEmpty { json.add("anchors", unknownAnchors) }
        if !beaconFaults.isEmpty { json.add("faults", beaconFaults.map(\.json)) }
    }
}

extension BeaconFault {
    /// The fault with the estimates of its kind.
    var json: JSONText {
        var json = JSONText()
        json.add("beacon", "\(beacon)")
        json.add("kind", kind.name)
        json.add("since", since.seconds, decimals: 3)
        switch kind {
        case .moved(let place, let distance):
            json.add("mapId", place.mapID.rawValue)
            json.add("x", place.point.x, decimals: 2)
            json.add("y", place.point.y, decimals: 2)
            json.add("deviation", place.deviation, decimals: 2)
            if let distance { json.add("distance", distance, decimals: 2) }
        case .exchanged(let other): json.add("with", "\(other)")
        case .imitated(let count): json.add("count", count)
        case .tooStrong(let excess): json.add("difference", excess, decimals: 1)
        case .powerChanged(let difference): json.add("difference", difference, decimals: 1)
        case .duplicated, .silent, .contradictory: break
        }
        return json
    }
}

extension LocalizationState {
    fileprivate func write(to json: inout JSONText) {
        json.add("type", "state")
        json.add("state", name)
        if let venueID { json.add("venueId", venueID.rawValue) }
        switch self {
        case .getPacket(_, let progress): json.add("progress", progress, decimals: 3)
        case .localizationRunning(let running): json.add("mapId", running.mapID.rawValue)
        case .error(let error):
            error.write(to: &json)
            json.add("message", error.description)
        case .idle, .started, .searchVenue, .findFloor: break
        }
    }
}

extension LocalizationError {
    /// Adds the fields that identify the error.
    fileprivate func write(to json: inout JSONText) {
        json.add("code", code.rawValue)
        json.add("kind", kind.rawValue)
        if let httpStatus { json.add("httpStatus", httpStatus) }
        if let systemErrorNumber { json.add("errno", Int(systemErrorNumber)) }
    }
}

extension Position {
    fileprivate func write(to json: inout JSONText) {
        json.add("type", "position")
        json.add("venueId", venueID.rawValue)
        json.add("mapId", mapID.rawValue)
        json.add("x", x, decimals: 3)
        json.add("y", y, decimals: 3)
        json.add("radius", radius, decimals: 3)
        if let covariance { json.add("covariance", [covariance.xx, covariance.xy, covariance.yy], decimals: 3) }
        json.add("label", label)
        if !rooms.isEmpty { json.add("rooms", rooms.map(\.json)) }
        json.add("latitude", coordinate?.latitude, decimals: 8)
        json.add("longitude", coordinate?.longitude, decimals: 8)
        json.add("course", course, decimals: 1)
        json.add("speed", speed, decimals: 2)
        json.add("floorCertainty", floorCertainty, decimals: 3)
    }
}

extension RoomProbability {
    fileprivate var json: JSONText {
        var json = JSONText()
        json.add("id", id)
        json.add("name", name)
        json.add("probability", probability, decimals: 3)
        return json
    }
}

extension OutdoorPosition {
    fileprivate func write(to json: inout JSONText) {
        json.add("type", "outdoorPosition")
        json.add("latitude", coordinate.latitude, decimals: 8)
        json.add("longitude", coordinate.longitude, decimals: 8)
        json.add("radius", radius, decimals: 3)
        json.add("altitude", altitude, decimals: 2)
        json.add("speed", speed, decimals: 2)
        json.add("course", course, decimals: 1)
    }
}

extension LocalizationEvent {
    fileprivate func write(to json: inout JSONText) {
        json.add("type", "event")
        let (event, id, name) =
            switch kind {
            case .enterFence(let fence): ("enterFence", Optional(fence.id), fence.name)
            case .exitFence(let fence): ("exitFence", fence.id, fence.name)
            case .enterRoom(let room): ("enterRoom", room.id, room.name)
            case .exitRoom(let room): ("exitRoom", room.id, room.name)
            case .enterGeofence(let fence): ("enterGeofence", nil, fence.name)
            case .exitGeofence(let fence): ("exitGeofence", nil, fence.name)
            }
        json.add("event", event)
        json.add("venueId", venueID.rawValue)
        if let id { json.add("id", id) } else { json.add("id", geofence?.id) }
        json.add("name", name)
        json.add("payload", content: fence?.payload ?? geofence?.payload)
        if let unixTime { json.add("unixMilliseconds", Int(unixTime.milliseconds)) }
    }
}

extension InteractionEvent {
    fileprivate func write(to json: inout JSONText) {
        json.add("type", "interaction")
        json.add("event", isEntry ? "enter" : "exit")
        json.add("venueId", venueID.rawValue)
        json.add("id", interaction.id)
        json.add("name", interaction.name)
        json.add("genericContent", interaction.genericContent)
        if !interaction.contents.isEmpty { json.add("contents", interaction.contents.map(\.json)) }
        json.add("payload", content: interaction.payload)
        if let unixTime { json.add("unixMilliseconds", Int(unixTime.milliseconds)) }
    }
}

extension Interaction.Content {
    fileprivate var json: JSONText {
        var json = JSONText()
        json.add("id", id)
        json.add("language", language)
        json.add("content", text)
        json.add("image", image)
        json.add("link", link)
        json.add("displayLink", displayLink)
        return json
    }
}

extension MotionEstimate {
    /// Adds the members of a line of type `motion`.
    func write(to json: inout JSONText) {
        json.add("type", "motion")
        json.add("kind", kind?.rawValue)
        json.add("stepFrequency", stepFrequency, decimals: 2)
        json.add("vertical", vertical.name)
        json.add("direction", vertical.direction?.rawValue)
        json.add("climbRate", climbRate, decimals: 2)
        json.add("floor", floor)
        if let heading {
            json.add("heading", heading.course, decimals: 1)
            json.add("trueHeading", heading.trueNorth, decimals: 1)
            json.add("magneticHeading", heading.magneticNorth, decimals: 1)
            json.add("headingAccuracy", heading.accuracy, decimals: 1)
            json.add("headingReference", heading.reference.rawValue)
            json.add("disturbed", heading.isMagneticallyDisturbed)
        }
        if let attitude {
            json.add("attitude", [attitude.w, attitude.x, attitude.y, attitude.z], decimals: 4)
        }
        json.add("x", position.x, decimals: 3)
        json.add("y", position.y, decimals: 3)
        json.add("z", position.z, decimals: 3)
        json.add("radius", radius, decimals: 3)
        json.add("altitude", altitude, decimals: 2)
        json.add("latitude", coordinate?.latitude, decimals: 8)
        json.add("longitude", coordinate?.longitude, decimals: 8)
        json.add("alignment", alignment.rawValue)
        json.add("steps", statistics.steps)
        json.add("distance", statistics.distance, decimals: 2)
        json.add("ascent", statistics.ascent, decimals: 2)
        json.add("descent", statistics.descent, decimals: 2)
        for kind in MotionKind.allCases { json.add(kind.rawValue, statistics.time(of: kind).seconds, decimals: 3) }
    }
}

/// The log of a session's outputs.
struct SessionLog: Sendable {
    /// The latest logged state and its fields; nil before the first one.
    private var latest: (name: String, fields: [LogField])?

    /// Writes an output as a log line if a log option was given; otherwise only the output file has it.
    ///
    /// A state with the name, the venue and the map of the latest one, such as the progress of a download, isn't
    /// written.
    mutating func write(_ content: SessionOutput.Content) {
        switch content {
        case .state(let state):
            let fields = state.logFields
            if let latest, latest == (state.name, fields) { return }
            latest = (state.name, fields)
            StandardError.detail("state \(state.name)", .info, fields)
        case .error(let error): StandardError.detail(error.message, .error, error.logFields)
        case .diagnosis(let diagnosis):
            StandardError.detail("\(diagnosis)", .notice, [LogField("reason", diagnosis.reason.rawValue)])
        case .event(let event): StandardError.detail("\(event)", .debug, [LogField("venue", event.venueID)])
        case .position(let position):
            let radius = JSONText.number(position.radius, decimals: 1)
            StandardError.detail(
                "position", .debug,
                [
                    LogField("venue", position.venueID), LogField("map", position.mapID),
                    LogField("x", JSONText.number(position.x, decimals: 2)),
                    LogField("y", JSONText.number(position.y, decimals: 2)), LogField("radius", radius),
                ])
        case .outdoorPosition, .motion, .interaction, .downloadedVenue: break
        }
    }
}

extension LocalizationState {
    /// The fields of a log line about the state.
    fileprivate var logFields: [LogField] {
        let venue = venueID.map { [LogField("venue", $0)] } ?? []
        guard case .localizationRunning(let running) = self else { return venue }
        return venue + [LogField("map", running.mapID)]
    }
}

extension LocalizationError {
    /// The fields of a log line about the error.
    var logFields: [LogField] { [LogField("code", code.rawValue), LogField("kind", kind.rawValue)] }
}

extension Venue {
    /// The kinds of names of the beacons with their numbers, in words; nil without beacons.
    var beaconNamingText: String? {
        guard !beacons.isEmpty else { return nil }
        let kinds = BeaconNaming.allCases.compactMap { naming -> String? in
            let count = beacons.count { $0.naming == naming }
            return count > 0 ? "\(count) by \(naming.text)" : nil
        }
        return "\(beacons.count.counting("beacon")): \(kinds.joined(separator: ", "))"
    }
}

extension BeaconNaming {
    /// The name of the kind in text for people.
    fileprivate var text: String {
        switch self {
        case .uuid: "UUID"
        case .eddystoneUID: "Eddystone-UID"
        case .altBeacon: "AltBeacon id"
        case .address: "address alone"
        }
    }
}
