import BeaconScanning
import IndoorVocabulary

// What a scanner tells, topic by topic.
extension Topic where Source == BeaconScanner, Element == RegionRanging {
    /// The beacons of each region that the device is in, once a second; none without any beacon.
    public static var rangings: Self { Topic { $0.rangings } }
}

extension Topic where Source == BeaconScanner, Element == RegionEvent {
    /// Regions that were entered.
    public static var regionsEntered: Self { Topic({ $0.regionEvents }, { $0.kind == .enter ? $0 : nil }) }
    /// Regions that were left.
    public static var regionsLeft: Self { Topic({ $0.regionEvents }, { $0.kind == .exit ? $0 : nil }) }
}

extension Topic where Source == BeaconScanner, Element == RoomEvent {
    /// Trained rooms that were entered.
    public static var roomsEntered: Self { Topic({ $0.roomEvents }, { $0.kind == .enter ? $0 : nil }) }
    /// Trained rooms that were left.
    public static var roomsLeft: Self { Topic({ $0.roomEvents }, { $0.kind == .exit ? $0 : nil }) }
    /// The room that the device is in, with each valid estimate.
    public static var currentRooms: Self { Topic({ $0.roomEvents }, { $0.kind == .current ? $0 : nil }) }
}

extension Topic where Source == BeaconScanner, Element == BeaconRecord {
    /// The beacons that were heard.
    public static var beacons: Self { Topic { $0.beacons } }
}

extension Topic where Source == BeaconScanner, Element == RadioEvent {
    /// What became of the radio: off, blocked, unplugged, or scanning again.
    public static var radioEvents: Self { Topic { $0.radioEvents } }
}

extension Topic where Source == BeaconScanner, Element == TrackingState {
    /// What is being done for the regions, and whether tracking is paused; the present state first.
    public static var trackingStates: Self { Topic { $0.trackingStates } }
}

extension Topic where Source == BeaconScanner, Element == TrainingProgress {
    /// How far the training of a room is.
    public static var trainingProgress: Self { Topic { $0.trainingProgress } }
}

extension Topic where Source == BeaconScanner, Element == LocalizationError {
    /// Errors, also those that the scanner survives.
    public static var errors: Self { Topic { $0.errors } }
}

extension Topic where Source == BeaconScanner, Element == ScannerEvent {
    /// Passes that began and ended, and all that was heard, in order.
    public static var scannerEvents: Self { Topic { $0.events } }
}
