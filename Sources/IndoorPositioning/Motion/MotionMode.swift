/// The carrier of the device.
public enum MotionMode: String, Hashable, Sendable, CaseIterable {
    /// A walking person, with the device in a hand or a pocket.
    case walking
    /// A shopping cart that a person pushes.
    case shoppingCart
    /// A wheelchair.
    case wheelchair
    /// A driving robot.
    case robot
}

extension MotionModel {
    /// Creates the model for a carrier.
    ///
    /// | mode | steps | mean speed | keeps its direction for | turns | starts | stops | wander standing / moving |
    /// | --- | --- | --- | --- | --- | --- | --- | --- |
    /// | walking | yes | 1.4 m/s | 100 s | 0.1 /s | 0.4 /s | 0.03 /s | 0.15 / 0.3 m |
    /// | shoppingCart | – | 0.8 m/s | 3 s | – | 0.4 /s | 0.15 /s | 0.15 / 0.3 m |
    /// | wheelchair | – | 0.9 m/s | 5 s | – | 0.4 /s | 0.08 /s | 0.1 / 0.2 m |
    /// | robot | – | 0.6 m/s | 8 s | – | 0.5 /s | 0.05 /s | 0.03 / 0.1 m |
    ///
    /// A mean speed is 1.25 times `walkingSpeed`, as for a normal distribution in the plane. Carriers on wheels have no
    /// steps: their accelerometer measures the joints of the floor. Both steps detected from the joints and the absence
    /// of steps would be wrong. A person who pushes a cart walks more slowly, and stops and turns at the shelves. A
    /// wheelchair rolls steadily. A robot keeps its direction, and doesn't move while it stands. The values for wheels
    /// follow from these considerations; they are not measured.
    package init(_ mode: MotionMode) {
        self.init()
        guard mode != .walking else { return }
        usesSteps = false
        turnRate = 0
        switch mode {
        case .walking: break
        case .shoppingCart: (walkingSpeed, velocityTime, stopRate) = (0.65, 3, 0.15)
        case .wheelchair:
            (walkingSpeed, velocityTime, stopRate) = (0.75, 5, 0.08)
            (standingWander, walkingWander) = (0.1, 0.2)
        case .robot:
            (walkingSpeed, velocityTime, startRate, stopRate) = (0.5, 8, 0.5, 0.05)
            (standingWander, walkingWander) = (0.03, 0.1)
        }
    }
}
