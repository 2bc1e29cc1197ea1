extension DeadReckoningSettings {
    /// The settings of motion, each once.
    package static let list: [Setting<DeadReckoningSettings>] = tellingList + judgingList + climbingList

    private static let tellingList: [Setting<DeadReckoningSettings>] = [
        .duration(
            "interval", \.interval, from: .zero, better: .smaller,
            "Time between two motion estimates; 0 tells one with every reading."),
        .choice(
            "estimationMode", \.estimationMode, fromWorst: [.local, .global],
            "Whether satellites are asked, from the beginning on, where on Earth the local frame lies."),
        .number(
            "headingFilter", \.headingFilter, in: 0...180, unit: "°", better: .smaller,
            "A heading that differs so much from the one told last is told; 0 tells every one."),
        .number(
            "attitudeFilter", \.attitudeFilter, in: 0...180, unit: "°", better: .smaller,
            "An attitude turned so far from the one told last is told; 0 tells every one."),
        .number(
            "magneticDeclination", \.magneticDeclination, in: -180...180, unit: "°",
            "How far a compass needle points east of true north."),
        .duration(
            "reckoningLimit", \.reckoningLimit, from: .zero,
            "In the forced venue, a place from outside and motion keep a session going without any beacon for this long. "
                + "A radio that has failed for this long loses the venue."),
    ]

    private static let judgingList: [Setting<DeadReckoningSettings>] = [
        .wholeNumber(
            "stepsToWalk", \.stepsToWalk, in: 1...20,
            "So many steps in a row are walking; fewer are a shift of the feet."),
        .duration(
            "longestStep", \.longestStep, above: .zero, "Who walks takes the next step within this time."),
        .number(
            "fidgetAcceleration", \.fidgetAcceleration, in: 0.001...100, unit: "m/s²",
            "A device whose acceleration varies by more than this standard deviation is moved."),
        .number(
            "fidgetRotation", \.fidgetRotation, in: 0.001...100, unit: "rad/s",
            "A device that turns faster than this is moved."),
        .duration(
            "settleTime", \.settleTime, from: .zero, "A device that is quiet for this long is stationary."),
    ]

    private static let climbingList: [Setting<DeadReckoningSettings>] = [
        .number(
            "floorHeight", \.floorHeight, in: 1...100, unit: "m", "Height from floor to floor where nobody tells."),
        .number(
            "climbSpeed", \.climbSpeed, in: 0.01...10, unit: "m/s",
            "Who rises or falls faster than this changes height."),
        .number(
            "elevatorSpeed", \.elevatorSpeed, in: 0.01...10, unit: "m/s",
            "Standing still and rising or falling faster than this is an elevator, slower an escalator."),
        .number(
            "stairTread", \.stairTread, in: 0...2, unit: "m", "How far a step on stairs leads ahead."),
    ]

    /// The same settings, with another's values in place of those that are out of range.
    func inRange(or other: DeadReckoningSettings) -> DeadReckoningSettings {
        var settings = self
        for setting in Self.list where !setting.limits.contains(setting.read(self)) {
            setting.write(&settings, setting.read(other))
        }
        return settings
    }
}
