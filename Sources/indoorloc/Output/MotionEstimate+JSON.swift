import IndoorLocalization

extension MotionEstimate {
    /// Adds what a line of type `motion` holds.
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
