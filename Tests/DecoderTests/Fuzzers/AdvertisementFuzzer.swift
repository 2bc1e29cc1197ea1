// Treats any bytes as advertising data: decoding must not trap, and its results must decode equal after encoding.
import BeaconScanning
import IndoorVocabulary

func fuzzAdvertisement(_ bytes: [UInt8]) throws(Finding) {
    guard case .beacon(let frame)? = try? BeaconFrame.decode(bytes.span) else { return }
    guard let data = try? frame.advertisingData(), case .beacon(frame)? = try? BeaconFrame.decode(data.span) else {
        throw Finding("\(frame) does not decode to itself")
    }
}
